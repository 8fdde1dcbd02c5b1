// Operators on f16, f32 and f64: correctly rounded, with NaN, infinities, signed zeros and subnormals.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"
#include "support/host_model.hpp"

namespace volley {
namespace {

namespace model = testing::model;
using testing::check_cases;
using testing::check_exact;
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
    if constexpr (std::is_same_v<T, half>)
        return half(std::fma(float(a), float(b), float(c)));
    else
        return std::fma(a, b, c);
}
template <class T>
T host_sqrt(T a) {
    if constexpr (std::is_same_v<T, half>)
        return half(std::sqrt(float(a)));
    else
        return std::sqrt(a);
}

template <class T>
void check_float_arithmetic() {
    using V = const Value<T>&;
    const auto [a, b] = sample_pairs<T>(3000, 21);
    check_exact<T>({{"a + b", [](V x, V y) { return x + y; }, model::add<T>},
                    {"a - b", [](V x, V y) { return x - y; }, model::sub<T>},
                    {"a * b", [](V x, V y) { return x * y; }, model::mul<T>},
                    {"a / b", [](V x, V y) { return x / y; }, model::div<T>},
                    {"fmod", [](V x, V y) { return fmod(x, y); }, model::rem<T>},
                    {"-a", [](V x, V) { return -x; }, [](T x, T) { return model::neg(x); }},
                    {"abs", [](V x, V) { return abs(x); }, [](T x, T) { return model::abs(x); }},
                    {"sqrt", [](V x, V) { return sqrt(x); }, [](T x, T) { return host_sqrt(x); }},
                    {"a + 0.5", [](V x, V) { return x + 0.5; }, [](T x, T) { return model::add(x, T(0.5)); }},
                    {"a - a", [](V x, V) { return x - x; }, [](T x, T) { return model::sub(x, x); }},
                    {"a * 0", [](V x, V) { return x * 0; }, [](T x, T) { return model::mul(x, T(0.0f)); }},
                    {"a + 0", [](V x, V) { return x + 0; }, [](T x, T) { return model::add(x, T(0.0f)); }},
                    {"a / 4", [](V x, V) { return x / 4; }, [](T x, T) { return model::div(x, T(4.0f)); }},
                    {"2 / a", [](V x, V) { return 2 / x; }, [](T x, T) { return model::div(T(2.0f), x); }}},
                   a, b);
}

VOLLEY_DEVICE_TEST(Float, ArithmeticIsCorrectlyRounded) {
    each_type<ALL_FLOATS>([]<class T>() { check_float_arithmetic<T>(); });
}

template <class T>
void check_fma() {
    using V = const Value<T>&;
    const auto [a, b] = sample_pairs<T>(3000, 22);
    auto c = samples<T>(a.size(), 23);
    c.resize(a.size());
    // Products that cancel reveal a second rounding.
    for (std::size_t i = 0; i < c.size(); i += 3) c[i] = model::neg(model::mul(a[i], b[i]));
    check_exact<T>({{"fma", [](V x, V y, V z) { return fma(x, y, z); }, host_fma<T>}}, a, b, c);
}

// On a device without fast fma, product and sum are rounded separately.
VOLLEY_DEVICE_TEST(Float, AProductAndASumOfOneExpressionAreContracted) {
    auto [a, b] = sample_pairs<f32>(1000, 29);
    using V = const Value<f32>&;
    if (!device().fused_fma) {
        if (!device().keeps_subnormals) {
            // A subnormal product may be flushed before the addition: both results are correct.
            const auto subnormal = [](f32 x, f32 y) { return std::fpclassify(x * y) == FP_SUBNORMAL; };
            for (std::size_t i = 0; i < a.size(); ++i) {
                if (subnormal(a[i], b[i]) || subnormal(a[i], a[i]) || subnormal(b[i], b[i]))
                    a[i] = b[i] = 1.0f;
            }
        }
        check_exact<f32>({{"a * b + a", [](V x, V y) { return x * y + x; },
                           [](f32 x, f32 y) { return model::add(model::mul(x, y), x); }},
                          {"b * b - a", [](V x, V y) { return y * y - x; },
                           [](f32 x, f32 y) { return model::sub(model::mul(y, y), x); }},
                          {"b - a * a", [](V x, V y) { return y - x * x; },
                           [](f32 x, f32 y) { return model::sub(y, model::mul(x, x)); }}},
                         a, b);
        return;
    }
    // Products that have one use each.
    check_exact<f32>(
        {{"a * b + a", [](V x, V y) { return x * y + x; }, [](f32 x, f32 y) { return std::fma(x, y, x); }},
         {"b * b - a", [](V x, V y) { return y * y - x; }, [](f32 x, f32 y) { return std::fma(y, y, -x); }},
         {"b - a * a", [](V x, V y) { return y - x * x; }, [](f32 x, f32 y) { return std::fma(-x, x, y); }}},
        a, b);
}

VOLLEY_DEVICE_TEST(Float, FmaRoundsOnce) {
    each_type<ALL_FLOATS>([]<class T>() { check_fma<T>(); });
}

// For zeros of different sign, either result is correct.
template <class T>
void check_min_max() {
    using V = const Value<T>&;
    const auto [a, b] = sample_pairs<T>(1000, 24);
    const auto fits = [](T got, T want, T, T) {
        return testing::same(got, want) || (wide(got) == 0 && wide(want) == 0);
    };
    check_cases<T>(
        fits,
        {{"min", [](V x, V y) { return min(x, y); }, model::min<T>},
         {"max", [](V x, V y) { return max(x, y); }, model::max<T>},
         {"sign", [](V x, V) { return sign(x); }, [](T x, T) { return model::sign(x); }},
         {"clamp", [](V x, V) { return clamp(x, -1, 2.5); },
          [](T x, T) { return model::min(model::max(x, T(-1.0f)), T(2.5f)); }},
         {"step", [](V x, V y) { return step(x, y); }, [](T x, T y) { return y < x ? T(0.0f) : T(1.0f); }}},
        a, b);
}

VOLLEY_DEVICE_TEST(Float, MinAndMaxPreferNumbersToNan) {
    each_type<ALL_FLOATS>([]<class T>() { check_min_max<T>(); });
}

template <class T>
void check_float_comparisons() {
    using V = const Value<T>&;
    const auto [a, b] = sample_pairs<T>(500, 25);
    check_exact<bool>(
        {{"a == b", [](V x, V y) { return x == y; }, [](T x, T y) { return x == y; }},
         {"a != b", [](V x, V y) { return x != y; }, [](T x, T y) { return x != y; }},
         {"a < b", [](V x, V y) { return x < y; }, [](T x, T y) { return x < y; }},
         {"a <= b", [](V x, V y) { return x <= y; }, [](T x, T y) { return x <= y; }},
         {"a > b", [](V x, V y) { return x > y; }, [](T x, T y) { return x > y; }},
         {"a >= b", [](V x, V y) { return x >= y; }, [](T x, T y) { return x >= y; }},
         {"!(a < b)", [](V x, V y) { return !(x < y); }, [](T x, T y) { return !(x < y); }},
         {"isnan", [](V x, V) { return isnan(x); }, [](T x, T) { return std::isnan(wide(x)); }},
         {"isinf", [](V x, V) { return isinf(x); }, [](T x, T) { return std::isinf(wide(x)); }},
         {"isfinite", [](V x, V) { return isfinite(x); }, [](T x, T) { return std::isfinite(wide(x)); }}},
        a, b);
}

VOLLEY_DEVICE_TEST(Float, ComparisonsWithNanAreFalse) {
    each_type<ALL_FLOATS>([]<class T>() { check_float_comparisons<T>(); });
}

template <class T>
void check_rounding() {
    using V = const Value<T>&;
    auto a = samples<T>(2000, 26);
    for (int k = -40; k <= 40; ++k) a.push_back(static_cast<T>(k * 0.5));
    check_exact<T>(
        {{"floor", [](V x) { return floor(x); }, [](T x) { return static_cast<T>(std::floor(wide(x))); }},
         {"ceil", [](V x) { return ceil(x); }, [](T x) { return static_cast<T>(std::ceil(wide(x))); }},
         {"trunc", [](V x) { return trunc(x); }, [](T x) { return static_cast<T>(std::trunc(wide(x))); }},
         {"round", [](V x) { return round(x); }, [](T x) { return static_cast<T>(std::round(wide(x))); }},
         {"round_even", [](V x) { return round_even(x); },
          [](T x) { return static_cast<T>(std::nearbyint(wide(x))); }},
         {"modf's whole", [](V x) { return modf(x).whole; },
          [](T x) { return static_cast<T>(std::trunc(wide(x))); }},
         {"modf's fraction", [](V x) { return modf(x).fraction; },
          [](T x) {
              double whole;
              return static_cast<T>(std::modf(wide(x), &whole));
          }}},
        a);
}

VOLLEY_DEVICE_TEST(Float, RoundingFunctionsRoundAsNamed) {
    each_type<ALL_FLOATS>([]<class T>() { check_rounding<T>(); });
}

template <class T>
void check_select() {
    using V = const Value<T>&;
    auto [a, b] = sample_pairs<T>(100, 27);
    // NaN payloads are preserved, so the bits are compared.
    using Bits = std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;
    const auto payload =
        std::bit_cast<T>(static_cast<Bits>(testing::bits_of(std::numeric_limits<T>::quiet_NaN()) | 5u));
    a.push_back(payload);
    b.push_back(static_cast<T>(1.0f));
    // Devices that flush subnormals may compare them as zeros, but must return the selected operand
    // unchanged.
    const auto picked = [](Bits got, Bits want, T x, T y) {
        if (got == want || testing::keeps_subnormals()) return got == want;
        return got == testing::bits_of(testing::flushed(x) < testing::flushed(y) ? x : y);
    };
    check_cases<Bits>(picked,
                      {{"select", [](V x, V y) { return bit_cast<Bits>(select(x < y, x, y)); },
                        [](T x, T y) { return static_cast<Bits>(testing::bits_of(x < y ? x : y)); }}},
                      a, b);
    check_exact<Bits>(
        {{"-x", [](V x, V) { return bit_cast<Bits>(-x); },
          [](T x, T) { return static_cast<Bits>(testing::bits_of(x) ^ (Bits{1} << (8 * sizeof(T) - 1))); }},
         {"abs", [](V x, V) { return bit_cast<Bits>(abs(x)); },
          [](T x, T) { return static_cast<Bits>(testing::bits_of(x) & ~(Bits{1} << (8 * sizeof(T) - 1))); }}},
        a, b);
}

VOLLEY_DEVICE_TEST(Float, SelectAndSignChangesKeepTheBitsOfNan) {
    each_type<ALL_FLOATS>([]<class T>() { check_select<T>(); });
}

/// The expected result as a function of two values.
template <class T>
struct Computed {
    T (*host)(T, T);
    T a, b;
};

template <class T>
void expect_computed(const std::vector<T>& got, const std::vector<Computed<T>>& computed, const char* what) {
    std::vector<T> want;
    for (const Computed<T>& c : computed) want.push_back(c.host(c.a, c.b));
    testing::expect_each(
        got, want,
        [&](T g, T, std::size_t i) {
            return testing::agrees(g, testing::same<T>, computed[i].host, computed[i].a, computed[i].b);
        },
        [&](std::size_t i) {
            return std::string(" of ") + what + " (" + show(computed[i].a) + " | " + show(computed[i].b) +
                   ")";
        });
}

// The same with uniform operands, and with constants, which are folded on the host.
template <class T>
void check_float_constants() {
    const std::vector<T> constants = testing::edge_values<T>();
    const auto count = constants.size();
    auto run = kernel("folded", [constants](Buff<T> folded, Buff<T> uniform, Const<T> x, Const<u32> which) {
        u32 k = 0;
        for (const T c : constants) {
            $if (which == k / 7u) {
                for (const T d : {T(3.0f), constants.back(), constants[20], T(-0.0f)})
                    folded[k++] = Value<T>(c) / d;
                folded[k++] = fma(Value<T>(c), c, c);
                folded[k++] = sqrt(Value<T>(c));
                folded[k] = min(Value<T>(c), T(0.25f));
                k -= 6;
                for (const T d : {T(3.0f), constants.back(), constants[20], T(-0.0f)}) uniform[k++] = x / d;
                uniform[k++] = fma(x, x, x);
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
    using Host = T (*)(T, T);
    std::vector<Computed<T>> want;
    for (const T c : constants) {
        for (const T d : {T(3.0f), constants.back(), constants[20], T(-0.0f)})
            want.push_back({model::div<T>, c, d});
        want.push_back({Host([](T x, T) { return host_fma(x, x, x); }), c, c});
        want.push_back({Host([](T x, T) { return host_sqrt(x); }), c, c});
        want.push_back({model::min<T>, c, T(0.25f)});
    }
    expect_computed(uniform.read(0), want, "uniform values");
    expect_computed(folded.read(0), want, "constants");
}

VOLLEY_DEVICE_TEST(Float, ConstantsAndUniformValuesMeanTheSame) {
    each_type<f32, f64>([]<class T>() { check_float_constants<T>(); });
}

template <class T>
void check_float_compound() {
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
    using Host = T (*)(T, T);
    std::vector<Computed<T>> want;
    for (const Host host :
         {Host(model::add<T>), Host(model::sub<T>), Host(model::mul<T>), Host(model::div<T>)}) {
        for (std::size_t i = 0; i < n; ++i) want.push_back({host, a[i], b[i]});
    }
    expect_computed(out.read(0), want, "compound assignment");
}

VOLLEY_DEVICE_TEST(Float, CompoundAssignmentChangesVariablesAndElements) {
    each_type<ALL_FLOATS>([]<class T>() { check_float_compound<T>(); });
}

}  // namespace
}  // namespace volley
