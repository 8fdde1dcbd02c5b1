// expand_math: what remains after it, edge values, and accuracy on every kind of device.
#include "passes/expand_math_support.hpp"
#include "passes/pass_support.hpp"
#include "support/ulp.hpp"

#include <volley/half.hpp>

namespace volley::passes {
namespace {

using testing::edge_values;

// Returns all pairs of edge values.
template <class T>
std::pair<std::vector<T>, std::vector<T>> edge_pairs() {
    return testing::sample_pairs<T>(0, 1);
}

template <class T>
void expect_edges() {
    const auto [a, b] = edge_pairs<T>();
    const DType type = std::is_same_v<T, float> ? ScalarType::F32 : ScalarType::F64;
    for (MathTarget target : math_targets()) {
        target.f64 = target.f64 || std::is_same_v<T, double>;
        // The interpreter rounds like the host; flushing is tested separately.
        if (!target.keeps_subnormals) continue;
        for (const MathFunction& f : math_functions()) {
            expect_promise<T>(f, target, a, b, interpreted<T>(expanded(f, type, target), a, b));
        }
    }
}

template <class T>
void expect_accuracy(std::size_t count, bool keeps = true, bool flush = false) {
    std::vector<T> a = math_samples<T>(count, 11);
    std::vector<T> b = math_samples<T>(count, 12);
    for (const T v : edge_values<T>()) {
        a.push_back(v);
        b.push_back(T(1.5));
    }
    const DType type = std::is_same_v<T, float> ? ScalarType::F32 : ScalarType::F64;
    for (const bool fused : {false, true}) {
        const MathTarget target{std::is_same_v<T, double>, fused, fused, keeps, false};
        for (const MathFunction& f : math_functions()) {
            const CompiledMath<T> compiled(expanded(f, type, target));
            expect_promise<T>(f, target, a, b, compiled(a, b, flush));
        }
    }
}

// If long double equals double on the host, it cannot serve as a reference for doubles.
constexpr bool has_wider_double = LDBL_MANT_DIG >= 64;

TEST(ExpandMath, LeavesNoFunctionAndEmitsNoFmaThatRoundsTwice) {
    for (const MathTarget& target : math_targets()) {
        for (const MathFunction& f : math_functions()) {
            for (const ScalarType s : {ScalarType::F16, ScalarType::F32, ScalarType::F64}) {
                if (s == ScalarType::F64 && !target.f64) continue;
                for (const DType type : {DType(s), DType::vector(s, 3)}) {
                    const ir::Function fn = expanded(f, type, target);
                    ir::for_each_node(fn, fn.body, [&](ir::NodeId id) {
                        EXPECT_FALSE(expands(fn[id], target)) << f.name();
                        if (!target.fused_fma) {
                            EXPECT_NE(fn[id].op, ir::Op::Fma) << f.name();
                        }
                    });
                }
            }
        }
    }
}

TEST(ExpandMath, DoesNotExpandDoublesWithoutF64) {
    const ir::Function fn = expanded({ir::Op::Sin, 2, nullptr, nullptr}, ScalarType::F64, {});
    EXPECT_EQ(count(fn, ir::Op::Sin), 1u);
}

TEST(ExpandMath, DoesNotChangeIntegersAndSquareRoots) {
    const std::string body = R"(
        %a = buffer f32 "a"
        %b = buffer i32 "b"
        %x = load %a[0] : f32
        %r = sqrt %x : f32
        store %a[0], %r
        %i = load %b[0] : i32
        %m = rem %i, %i : i32
        store %b[0], %m)";
    ir::Function fn = kernel(body);
    expand_math(fn, {});
    EXPECT_EQ(body_of(fn), normal(body));
}

TEST(ExpandMath, EdgeValuesOfFloatsAreThoseOfC) { expect_edges<float>(); }

TEST(ExpandMath, EdgeValuesOfDoublesAreThoseOfC) {
    if (has_wider_double) expect_edges<double>();
}

TEST(ExpandMath, FloatsAreAccurate) { expect_accuracy<float>(100000); }

TEST(ExpandMath, DoublesAreAccurate) {
    if (has_wider_double) expect_accuracy<double>(30000);
}

TEST(ExpandMath, FloatsAreAccurateIfSubnormalsAreZeros) {
    if (Flushing::possible) expect_accuracy<float>(30000, false, true);
}

TEST(ExpandMath, DoublesAreAccurateIfSubnormalsAreZeros) {
    if (Flushing::possible && has_wider_double) expect_accuracy<double>(10000, false, true);
}

// Many devices keep subnormal numbers without guaranteeing it.
TEST(ExpandMath, FloatsAreAccurateIfSubnormalsMightBeZeros) { expect_accuracy<float>(30000, false, false); }

TEST(ExpandMath, PowersOfFloatsAreAccurateThroughDoubles) {
    const std::vector<float> a = math_samples<float>(100000, 21);
    const std::vector<float> b = math_samples<float>(100000, 22);
    const MathTarget target{true, true, false, true, true};
    for (const MathFunction& f : math_functions()) {
        if (f.op != ir::Op::Pow) continue;
        const CompiledMath<float> compiled(expanded(f, ScalarType::F32, target));
        expect_promise<float>(f, target, a, b, compiled(a, b));
    }
}

// Doubles next to a multiple of pi/2; the first is the closest of all and cancels 61 bits.
TEST(ExpandMath, AnglesNextToMultiplesOfHalfPiKeepAllDigits) {
    if (!has_wider_double) return;
    std::vector<double> a = {std::ldexp(6381956970095103.0, 797), std::ldexp(5842458669180001.0, -50)};
    for (int k = 1; k < 1000; ++k) {
        a.push_back(k * 1.5707963267948966);
        a.push_back(std::nextafter(k * 1048576.0 * 1.5707963267948966, 0.0));
        a.push_back(std::ldexp(k * 1.5707963267948966, k));
    }
    const std::vector<double> b(a.size());
    for (const bool fused : {false, true}) {
        const MathTarget target{true, fused, fused, true};
        for (const MathFunction& f : math_functions()) {
            if (f.op != ir::Op::Sin && f.op != ir::Op::Cos && f.op != ir::Op::Tan) continue;
            const CompiledMath<double> compiled(expanded(f, ScalarType::F64, target));
            expect_promise<double>(f, target, a, b, compiled(a, b));
        }
    }
}

TEST(ExpandMath, RemaindersOfAnySizeAreExact) {
    testing::Random random(testing::seed_or(31));
    std::vector<float> a;
    std::vector<float> b;
    for (int i = 0; i < 20000; ++i) {
        a.push_back(testing::random_value<float>(random));
        const float other = testing::random_value<float>(random);
        b.push_back(random.chance(50) ? other : std::ldexp(a.back(), -static_cast<int>(random.below(60))));
    }
    for (const bool fused : {false, true}) {
        const MathTarget target{false, false, fused, true};
        for (const MathFunction& f : math_functions()) {
            if (f.op != ir::Op::Rem) continue;
            const CompiledMath<float> compiled(expanded(f, ScalarType::F32, target));
            expect_promise<float>(f, target, a, b, compiled(a, b));
        }
    }
}

TEST(ExpandMath, ComponentsOfVectorsAreComputedLikeScalars) {
    const std::vector<float> a = testing::samples<float>(600, 41);
    const std::vector<float> b = math_samples<float>(a.size(), 42);
    const MathTarget target{false, false, true, true};
    for (const MathFunction& f : math_functions()) {
        const std::vector<float> one = interpreted<float>(expanded(f, ScalarType::F32, target), a, b);
        for (const unsigned parts : {2u, 3u, 4u}) {
            const ir::Function fn = expanded(f, DType::vector(ScalarType::F32, parts), target);
            const std::vector<float> many = interpreted<float>(fn, a, b, parts);
            for (std::size_t i = 0; i < a.size() / parts * parts; ++i) {
                EXPECT_EQ(testing::ulp_distance(one[i], many[i]), 0) << f.name() << " of " << a[i];
            }
        }
    }
}

TEST(ExpandMath, InterpreterAndCompiledCodeAgreeToTheBit) {
    const std::vector<float> a = testing::samples<float>(500, 51);
    const std::vector<float> b = math_samples<float>(a.size(), 52);
    for (const MathTarget& target :
         {MathTarget{}, MathTarget{true, true, true, true, true}, MathTarget{false, true, false, false}}) {
        for (const MathFunction& f : math_functions()) {
            const ir::Function fn = expanded(f, ScalarType::F32, target);
            const std::vector<float> expected = interpreted<float>(fn, a, b);
            const std::vector<float> actual = CompiledMath<float>(fn)(a, b);
            for (std::size_t i = 0; i < a.size(); ++i) {
                EXPECT_EQ(testing::ulp_distance(expected[i], actual[i]), 0)
                    << f.name() << " of " << a[i] << ", " << b[i] << " (" << text(target) << ')';
            }
        }
    }
}

TEST(ExpandMath, HalvesAreComputedInFloats) {
    std::vector<half> a;
    std::vector<half> b;
    for (unsigned bits = 0; bits < 0x10000; bits += 7) {
        a.push_back(half::from_bits(static_cast<std::uint16_t>(bits)));
        b.push_back(half(1.5f));
    }
    const MathTarget target{false, false, true, true};
    for (const MathFunction& f : math_functions()) {
        const std::vector<half> got = CompiledMath<half>(expanded(f, ScalarType::F16, target))(a, b);
        for (std::size_t i = 0; i < a.size(); ++i) {
            const half wanted(static_cast<float>(f(float(a[i]), float(b[i]))));
            EXPECT_LE(testing::ulp_distance(got[i], wanted), 1) << f.name() << " of " << float(a[i]);
        }
    }
}

TEST(ExpandMath, SineAndCosineOfOneAngleShareItsReduction) {
    ir::Function fn = kernel(R"(
        %a = buffer f32 "a"
        %x = load %a[0] : f32
        %s = sin %x : f32
        %c = cos %x : f32
        store %a[0], %s
        store %a[1], %c)");
    expand_math(fn, {});
    ir::verify(fn);
    EXPECT_EQ(count(fn, ir::Op::If), 1u);
}

TEST(ExpandMath, ValuesOfABranchAreNotReusedAfterIt) {
    ir::Function fn = kernel(R"(
        %a = buffer f32 "a"
        %x = load %a[0] : f32
        %zero = const 0 : f32
        %negative = lt %x, %zero : bool
        if %negative {
            %s = sin %x : f32
            store %a[0], %s
        }
        %c = cos %x : f32
        store %a[1], %c
        %n = const 3 : u32
        %i = for %n, %n, %n : u32 {
            %e = exp %x : f32
            %t = sin %e : f32
            store %a[%i], %t
        })");
    expand_math(fn, {});
    ir::verify(fn);
    EXPECT_EQ(count(fn, ir::Op::Sin) + count(fn, ir::Op::Cos) + count(fn, ir::Op::Exp), 0u);
}

TEST(ExpandMath, ExpandedNodesKnowTheirSourceLine) {
    ir::Function fn = kernel(R"(
        %a = buffer f32 "a"
        %x = load %a[0] : f32
        %s = exp %x : f32  ; waves.cpp:7
        store %a[0], %s)");
    expand_math(fn, {});
    EXPECT_EQ(fn.where(fn[stored(fn, 0)].loc), "waves.cpp:7");
}

}  // namespace
}  // namespace volley::passes
