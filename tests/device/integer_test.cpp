// Operators on integers of every width: wrapping arithmetic, defined division, shifts modulo the width,
// comparisons, compound assignment, and the same with constants and uniform values, which the compiler
// handles differently.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"
#include "support/host_model.hpp"

namespace volley {
namespace {

namespace model = testing::model;
using testing::check_exact;
using testing::edge_values;
using testing::expect_same;
using testing::sample_pairs;
using testing::samples;

#define ALL_INTEGERS i8, u8, i16, u16, i32, u32, i64, u64

template <class T>
void check_integer_arithmetic() {
    using V = const Value<T>&;
    const auto [a, b] = sample_pairs<T>(500, 11);
    check_exact<T>({{"a + b", [](V x, V y) { return x + y; }, model::add<T>},
                    {"a - b", [](V x, V y) { return x - y; }, model::sub<T>},
                    {"a * b", [](V x, V y) { return x * y; }, model::mul<T>},
                    {"a / b", [](V x, V y) { return x / y; }, model::div<T>},
                    {"a % b", [](V x, V y) { return x % y; }, model::rem<T>},
                    {"min", [](V x, V y) { return min(x, y); }, model::min<T>},
                    {"max", [](V x, V y) { return max(x, y); }, model::max<T>},
                    {"-a", [](V x, V) { return -x; }, [](T x, T) { return model::neg(x); }},
                    {"+a", [](V x, V) { return +x; }, [](T x, T) { return x; }},
                    {"abs", [](V x, V) { return abs(x); }, [](T x, T) { return model::abs(x); }},
                    {"sign", [](V x, V) { return sign(x); }, [](T x, T) { return model::sign(x); }},
                    {"fma", [](V x, V y) { return fma(x, y, x); },
                     [](T x, T y) { return model::add(model::mul(x, y), x); }},
                    {"clamp", [](V x, V y) { return clamp(x, y, 100); },
                     [](T x, T y) { return model::min(model::max(x, y), T(100)); }}},
                   a, b);
}

VOLLEY_DEVICE_TEST(Integer, ArithmeticWrapsAndDivisionIsDefined) {
    each_type<ALL_INTEGERS>([]<class T>() { check_integer_arithmetic<T>(); });
}

template <class T>
void check_integer_bits() {
    using V = const Value<T>&;
    const auto [a, b] = sample_pairs<T>(500, 12);
    check_exact<T>({{"a & b", [](V x, V y) { return x & y; }, [](T x, T y) { return static_cast<T>(x & y); }},
                    {"a | b", [](V x, V y) { return x | y; }, [](T x, T y) { return static_cast<T>(x | y); }},
                    {"a ^ b", [](V x, V y) { return x ^ y; }, [](T x, T y) { return static_cast<T>(x ^ y); }},
                    {"~a", [](V x, V) { return ~x; }, [](T x, T) { return static_cast<T>(~x); }},
                    {"a << b", [](V x, V y) { return x << y; }, model::shl<T>},
                    {"a >> b", [](V x, V y) { return x >> y; }, model::shr<T>},
                    {"a << 3", [](V x, V) { return x << 3; }, [](T x, T) { return model::shl(x, T(3)); }},
                    {"a >> 70", [](V x, V) { return x >> 70; }, [](T x, T) { return model::shr(x, T(70)); }},
                    {"1 << b", [](V, V y) { return 1 << y; }, [](T, T y) { return model::shl(T(1), y); }}},
                   a, b);
}

VOLLEY_DEVICE_TEST(Integer, ShiftsAreModuloTheWidth) {
    each_type<ALL_INTEGERS>([]<class T>() { check_integer_bits<T>(); });
}

template <class T>
void check_bit_functions() {
    using V = const Value<T>&;
    const auto a = samples<T>(500, 13);
    check_exact<T>({{"popcount", [](V x) { return popcount(x); }, model::popcount<T>},
                    {"clz", [](V x) { return clz(x); }, model::clz<T>},
                    {"ctz", [](V x) { return ctz(x); }, model::ctz<T>},
                    {"reverse_bits", [](V x) { return reverse_bits(x); }, model::reverse_bits<T>}},
                   a);
}

VOLLEY_DEVICE_TEST(Integer, BitFunctionsCountAndReverse) {
    each_type<ALL_INTEGERS>([]<class T>() { check_bit_functions<T>(); });
}

template <class T>
void check_mod() {
    using V = const Value<T>&;
    const auto [a, b] = sample_pairs<T>(200, 14);
    check_exact<T>({{"mod", [](V x, V y) { return mod(x, y); },
                     [](T x, T y) {
                         // Has the sign of the divisor.
                         const T r = model::rem(x, y);
                         return r != 0 && (r < 0) != (y < 0) ? model::add(r, y) : r;
                     }}},
                   a, b);
}

VOLLEY_DEVICE_TEST(Integer, ModHasTheSignOfTheDivisor) {
    each_type<i8, u8, i32, u32, i64>([]<class T>() { check_mod<T>(); });
}

template <class T>
void check_integer_comparisons() {
    using V = const Value<T>&;
    const auto [a, b] = sample_pairs<T>(300, 15);
    check_exact<bool>({{"a == b", [](V x, V y) { return x == y; }, [](T x, T y) { return x == y; }},
                       {"a != b", [](V x, V y) { return x != y; }, [](T x, T y) { return x != y; }},
                       {"a < b", [](V x, V y) { return x < y; }, [](T x, T y) { return x < y; }},
                       {"a <= b", [](V x, V y) { return x <= y; }, [](T x, T y) { return x <= y; }},
                       {"a > b", [](V x, V y) { return x > y; }, [](T x, T y) { return x > y; }},
                       {"a >= b", [](V x, V y) { return x >= y; }, [](T x, T y) { return x >= y; }},
                       {"a < 7", [](V x, V) { return x < 7; }, [](T x, T) { return x < 7; }},
                       {"7 <= b", [](V, V y) { return 7 <= y; }, [](T, T y) { return 7 <= y; }}},
                      a, b);
}

VOLLEY_DEVICE_TEST(Integer, ComparisonsKnowSignedFromUnsigned) {
    each_type<ALL_INTEGERS>([]<class T>() { check_integer_comparisons<T>(); });
}

template <class T>
void check_integer_compound() {
    const auto pairs = sample_pairs<T>(100, 16);
    const std::vector<T>& a = pairs.first;
    const std::vector<T>& b = pairs.second;
    const auto n = static_cast<u32>(a.size());
    auto run = kernel("compound", [](Buff<const T> x, Buff<const T> y, Buff<T> out, Const<u32> count) {
        const auto i = global_id().x;
        u32 k = 0;
        // A variable, then the element of a buffer in place.
#define COMPOUND(op)                    \
    {                                   \
        Var<T> v = x[i];                \
        v op y[i];                      \
        out[i + count * k++] = v;       \
        const auto j = i + count * k++; \
        out[j] = x[i];                  \
        out[j] op y[i];                 \
    }
        // clang-format off
        COMPOUND(+=)
        COMPOUND(-=)
        COMPOUND(*=)
        COMPOUND(/=)
        COMPOUND(%=)
        COMPOUND(&=)
        COMPOUND(|=)
        COMPOUND(^=)
        COMPOUND(<<=)
        COMPOUND(>>=)
#undef COMPOUND
        // clang-format on
        Var<T> v = x[i];
        const auto before = v++;
        out[i + count * k++] = before;
        out[i + count * k++] = ++v;
        const auto after = v--;
        out[i + count * k++] = after;
        out[i + count * k++] = --v;
    });
    Buffer<T> out(24 * n);
    run.over(n)(as_buffer(a), as_buffer(b), out, n);
    std::vector<T> want;
    const auto twice = [&](T (*f)(T, T)) {
        for (int copy = 0; copy < 2; ++copy) {
            for (std::size_t i = 0; i < n; ++i) want.push_back(f(a[i], b[i]));
        }
    };
    twice(model::add<T>);
    twice(model::sub<T>);
    twice(model::mul<T>);
    twice(model::div<T>);
    twice(model::rem<T>);
    twice([](T x, T y) { return static_cast<T>(x & y); });
    twice([](T x, T y) { return static_cast<T>(x | y); });
    twice([](T x, T y) { return static_cast<T>(x ^ y); });
    twice(model::shl<T>);
    twice(model::shr<T>);
    for (const int steps : {0, 2, 2, 0}) {
        for (const T x : a) want.push_back(model::add(x, static_cast<T>(steps)));
    }
    expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Integer, CompoundAssignmentChangesVariablesAndElements) {
    each_type<i8, u16, i32, u64>([]<class T>() { check_integer_compound<T>(); });
}

// Division by constants is strength-reduced, and constant expressions are folded.
template <class T>
void check_integer_constants() {
    const auto a = samples<T>(100, 17);
    const std::vector<T> constants = edge_values<T>();
    const auto n = static_cast<u32>(a.size());
    auto run = kernel("constants", [constants](Buff<const T> x, Buff<T> out, Const<u32> count) {
        const auto i = global_id().x;
        u32 k = 0;
        for (const T c : constants) {
            out[i + count * k++] = x[i] / c;
            out[i + count * k++] = x[i] % c;
            out[i + count * k++] = x[i] * c;
            out[i + count * k++] = c / x[i];
            out[i + count * k++] = (x[i] << c) - (x[i] >> c);
            // Both operands are constants.
            out[i + count * k++] = Value<T>(c) / constants.back() + Value<T>(constants.back()) % c;
        }
    });
    Buffer<T> out(6 * constants.size() * n);
    run.over(n)(as_buffer(a), out, n);
    std::vector<T> want;
    for (const T c : constants) {
        for (const T x : a) want.push_back(model::div(x, c));
        for (const T x : a) want.push_back(model::rem(x, c));
        for (const T x : a) want.push_back(model::mul(x, c));
        for (const T x : a) want.push_back(model::div(c, x));
        for (const T x : a) want.push_back(model::sub(model::shl(x, c), model::shr(x, c)));
        const T last = constants.back();
        want.insert(want.end(), n, model::add(model::div(c, last), model::rem(last, c)));
    }
    expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Integer, ConstantsOnEitherSideMeanTheSame) {
    each_type<i8, u8, i16, i32, u32, i64, u64>([]<class T>() { check_integer_constants<T>(); });
}

// Uniform operands stay scalar on the CPU, or are widened next to varying ones.
template <class T>
void check_integer_uniform() {
    const auto a = samples<T>(40, 18);
    auto run = kernel("uniform", [](Buff<const T> x, Buff<T> out, Const<T> c, Const<T> d) {
        const auto i = global_id().x;
        const auto n = global_size().x;
        out[i] = x[i] / c;
        out[i + n] = c % x[i];
        out[i + 2u * n] = (c / d) - (c % d);
        out[i + 3u * n] = (c << d) ^ (c >> d) ^ min(c, d);
    });
    for (const T c : edge_values<T>()) {
        const T d = static_cast<T>(static_cast<std::uint64_t>(c) * 5 + 3);
        Buffer<T> out(4 * a.size());
        run.over(a.size())(as_buffer(a), out, c, d);
        std::vector<T> want;
        for (const T x : a) want.push_back(model::div(x, c));
        for (const T x : a) want.push_back(model::rem(c, x));
        want.insert(want.end(), a.size(), model::sub(model::div(c, d), model::rem(c, d)));
        want.insert(want.end(), a.size(),
                    static_cast<T>(model::shl(c, d) ^ model::shr(c, d) ^ model::min(c, d)));
        expect_same(out.read(0), want);
    }
}

VOLLEY_DEVICE_TEST(Integer, UniformOperandsMeanTheSame) {
    each_type<i8, u16, i32, u32, i64>([]<class T>() { check_integer_uniform<T>(); });
}

}  // namespace
}  // namespace volley
