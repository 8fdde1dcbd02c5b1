// Operators on f16, f32 and f64: correctly rounded, with NaN, infinities, signed zeros and subnormals.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"
#include "support/host_model.hpp"

namespace volley {
namespace {

namespace model = testing::model;
using testing::Case;
using testing::check_cases;
using testing::check_exact;
using testing::expect_same;
using testing::inputs;
using testing::sample_pairs;
using testing::samples;
using testing::show;

#define ALL_FLOATS f16, f32, f64

template <class T>
[[nodiscard]] double wide(T v) {
    return static_cast<double>(v);
}

template <class T>
T host_fma(T a, T b, T c) {
    if constexpr (std::is_same_v<T, half>) return half(std::fma(float(a), float(b), float(c)));
    else return std::fma(a, b, c);
}
template <class T>
T host_sqrt(T a) {
    if constexpr (std::is_same_v<T, half>) return half(std::sqrt(float(a)));
    else return std::sqrt(a);
}

template <class T>
void check_arithmetic() {
    const auto [a, b] = sample_pairs<T>(3000, 21);
    check_exact<T>(
        inputs(a, b), Case{"a + b", [](auto x, auto y) { return x + y; }, model::add<T>},
        Case{"a - b", [](auto x, auto y) { return x - y; }, model::sub<T>},
        Case{"a * b", [](auto x, auto y) { return x * y; }, model::mul<T>},
        Case{"a / b", [](auto x, auto y) { return x / y; }, model::div<T>},
        Case{"fmod", [](auto x, auto y) { return fmod(x, y); }, model::rem<T>},
        Case{"-a", [](auto x, auto) { return -x; }, [](T x, T) { return model::neg(x); }},
        Case{"abs", [](auto x, auto) { return abs(x); }, [](T x, T) { return model::abs(x); }},
        Case{"sqrt", [](auto x, auto) { return sqrt(x); }, [](T x, T) { return host_sqrt(x); }},
        Case{"a + 0.5", [](auto x, auto) { return x + 0.5; }, [](T x, T) { return model::add(x, T(0.5)); }},
        Case{"2 / a", [](auto x, auto) { return 2 / x; }, [](T x, T) { return model::div(T(2.0f), x); }});
}

VOLLEY_DEVICE_TEST(Float, ArithmeticIsCorrectlyRounded) {
    each_type<ALL_FLOATS>([]<class T>() { check_arithmetic<T>(); });
}

template <class T>
void check_fma() {
    const auto [a, b] = sample_pairs<T>(3000, 22);
    auto c = samples<T>(a.size(), 23);
    c.resize(a.size());
    // Products that cancel show whether it rounds once.
    for (std::size_t i = 0; i < c.size(); i += 3) c[i] = model::neg(model::mul(a[i], b[i]));
    check_exact<T>(inputs(a, b, c), Case{"fma", [](auto x, auto y, auto z) { return fma(x, y, z); }, host_fma<T>});
}

VOLLEY_DEVICE_TEST(Float, FmaRoundsOnce) {
    each_type<ALL_FLOATS>([]<class T>() { check_fma<T>(); });
}

// Of zeros of different sign either is right.
template <class T>
void check_min_max() {
    const auto [a, b] = sample_pairs<T>(1000, 24);
    const auto fits = [](T got, T want, T, T) {
        return testing::same(got, want) || (wide(got) == 0 && wide(want) == 0);
    };
    check_cases<T>(fits, inputs(a, b), Case{"min", [](auto x, auto y) { return min(x, y); }, model::min<T>},
                   Case{"max", [](auto x, auto y) { return max(x, y); }, model::max<T>},
                   Case{"sign", [](auto x, auto) { return sign(x); }, [](T x, T) { return model::sign(x); }},
                   Case{"clamp", [](auto x, auto) { return clamp(x, -1, 2.5); },
                        [](T x, T) { return model::min(model::max(x, T(-1.0f)), T(2.5f)); }},
                   Case{"step", [](auto x, auto y) { return step(x, y); },
                        [](T x, T y) { return y < x ? T(0.0f) : T(1.0f); }});
}

VOLLEY_DEVICE_TEST(Float, MinAndMaxPreferNumbersToNan) {
    each_type<ALL_FLOATS>([]<class T>() { check_min_max<T>(); });
}

template <class T>
void check_comparisons() {
    const auto [a, b] = sample_pairs<T>(500, 25);
    check_exact<bool>(inputs(a, b), Case{"a == b", [](auto x, auto y) { return x == y; }, [](T x, T y) { return x == y; }},
                      Case{"a != b", [](auto x, auto y) { return x != y; }, [](T x, T y) { return x != y; }},
                      Case{"a < b", [](auto x, auto y) { return x < y; }, [](T x, T y) { return x < y; }},
                      Case{"a <= b", [](auto x, auto y) { return x <= y; }, [](T x, T y) { return x <= y; }},
                      Case{"a > b", [](auto x, auto y) { return x > y; }, [](T x, T y) { return x > y; }},
                      Case{"a >= b", [](auto x, auto y) { return x >= y; }, [](T x, T y) { return x >= y; }},
                      Case{"!(a < b)", [](auto x, auto y) { return !(x < y); }, [](T x, T y) { return !(x < y); }},
                      Case{"isnan", [](auto x, auto) { return isnan(x); }, [](T x, T) { return std::isnan(wide(x)); }},
                      Case{"isinf", [](auto x, auto) { return isinf(x); }, [](T x, T) { return std::isinf(wide(x)); }},
                      Case{"isfinite", [](auto x, auto) { return isfinite(x); },
                           [](T x, T) { return std::isfinite(wide(x)); }});
}

VOLLEY_DEVICE_TEST(Float, ComparisonsWithNanAreFalse) {
    each_type<ALL_FLOATS>([]<class T>() { check_comparisons<T>(); });
}

template <class T>
void check_rounding() {
    auto a = samples<T>(2000, 26);
    for (int k = -40; k <= 40; ++k) a.push_back(static_cast<T>(k * 0.5));
    const auto with = [](double (*f)(double)) { return [f](T x) { return static_cast<T>(f(wide(x))); }; };
    check_exact<T>(inputs(a), Case{"floor", [](auto x) { return floor(x); }, with(std::floor)},
                   Case{"ceil", [](auto x) { return ceil(x); }, with(std::ceil)},
                   Case{"trunc", [](auto x) { return trunc(x); }, with(std::trunc)},
                   Case{"round", [](auto x) { return round(x); }, with(std::round)},
                   Case{"round_even", [](auto x) { return round_even(x); }, with(std::nearbyint)},
                   Case{"modf's whole", [](auto x) { return modf(x).whole; }, with(std::trunc)},
                   Case{"modf's fraction", [](auto x) { return modf(x).fraction; },
                        with([](double x) {
                            double whole;
                            return std::modf(x, &whole);
                        })});
}

VOLLEY_DEVICE_TEST(Float, RoundingGoesTheWayOfItsName) {
    each_type<ALL_FLOATS>([]<class T>() { check_rounding<T>(); });
}

template <class T>
void check_select() {
    auto [a, b] = sample_pairs<T>(100, 27);
    // Payloads of NaN survive: by bits, not as values.
    using Bits = std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;
    const auto payload = std::bit_cast<T>(static_cast<Bits>(testing::bits_of(std::numeric_limits<T>::quiet_NaN()) | 5u));
    a.push_back(payload);
    b.push_back(static_cast<T>(1.0f));
    const auto bits = [](T v) { return static_cast<Bits>(testing::bits_of(v)); };
    check_exact<Bits>(inputs(a, b),
                      Case{"select", [](auto x, auto y) { return bit_cast<Bits>(select(x < y, x, y)); },
                           [&](T x, T y) { return bits(x < y ? x : y); }},
                      Case{"-x", [](auto x, auto) { return bit_cast<Bits>(-x); },
                           [&](T x, T) { return static_cast<Bits>(bits(x) ^ (Bits{1} << (8 * sizeof(T) - 1))); }},
                      Case{"abs", [](auto x, auto) { return bit_cast<Bits>(abs(x)); }, [&](T x, T) {
                               return static_cast<Bits>(bits(x) & ~(Bits{1} << (8 * sizeof(T) - 1)));
                           }});
}

VOLLEY_DEVICE_TEST(Float, SelectAndSignChangesKeepTheBitsOfNan) {
    each_type<ALL_FLOATS>([]<class T>() { check_select<T>(); });
}

// The same with operands that are constants, folded before any device sees them, and uniform.
template <class T>
void check_constants() {
    const std::vector<T> constants = testing::edge_values<T>();
    const auto count = constants.size();
    auto run = kernel("folded", [constants](Buff<T> folded, Buff<T> uniform, Const<T> x, Const<u32> which) {
        u32 k = 0;
        for (const T c : constants) {
            $if (which == k / 7u) {
                for (const T d : {T(3.0f), constants.back(), constants[20], T(-0.0f)}) folded[k++] = Value<T>(c) / d;
                folded[k++] = Value<T>(c) * c + Value<T>(c);
                folded[k++] = sqrt(Value<T>(c));
                folded[k] = min(Value<T>(c), T(0.25f));
                k -= 6;
                for (const T d : {T(3.0f), constants.back(), constants[20], T(-0.0f)}) uniform[k++] = x / d;
                uniform[k++] = x * x + x;
                uniform[k++] = sqrt(x);
                uniform[k] = min(x, T(0.25f));
            }
            k = k / 7 * 7 + 7;
        }
    });
    Buffer<T> folded(7 * count);
    Buffer<T> uniform(7 * count);
    folded.fill(T(0.0f));
    uniform.fill(T(0.0f));
    for (std::size_t k = 0; k < count; ++k) run.over(1)(folded, uniform, constants[k], static_cast<u32>(k));
    std::vector<T> want;
    for (const T c : constants) {
        for (const T d : {T(3.0f), constants.back(), constants[20], T(-0.0f)}) want.push_back(model::div(c, d));
        want.push_back(host_fma(c, c, c));
        want.push_back(host_sqrt(c));
        want.push_back(model::min(c, T(0.25f)));
    }
    expect_same(uniform.read(0), want, "uniform values");
    expect_same(folded.read(0), want, "constants");
}

VOLLEY_DEVICE_TEST(Float, ConstantsAndUniformValuesMeanTheSame) {
    each_type<f32, f64>([]<class T>() { check_constants<T>(); });
}

template <class T>
void check_compound() {
    const auto [a, b] = sample_pairs<T>(200, 28);
    const auto n = static_cast<u32>(a.size());
    auto run = kernel("compound", [](Buff<const T> x, Buff<const T> y, Buff<T> out, Const<u32> count) {
        const auto i = global_id().x;
        Var<T> v = x[i];
        v += y[i];
        out[i] = v;
        out[i + count] = x[i];
        out[i + count] -= y[i];
        out[i + count * 2u] = x[i];
        out[i + count * 2u] *= y[i];
        out[i + count * 3u] = x[i];
        out[i + count * 3u] /= y[i];
    });
    Buffer<T> out(4 * n);
    run.over(n)(as_buffer(a), as_buffer(b), out, n);
    std::vector<T> want;
    for (std::size_t i = 0; i < n; ++i) want.push_back(model::add(a[i], b[i]));
    for (std::size_t i = 0; i < n; ++i) want.push_back(model::sub(a[i], b[i]));
    for (std::size_t i = 0; i < n; ++i) want.push_back(model::mul(a[i], b[i]));
    for (std::size_t i = 0; i < n; ++i) want.push_back(model::div(a[i], b[i]));
    expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Float, CompoundAssignmentChangesVariablesAndElements) {
    each_type<ALL_FLOATS>([]<class T>() { check_compound<T>(); });
}

}  // namespace
}  // namespace volley
