// The mathematical functions within the bounds of docs/ir.md, over the whole range of each type, with the
// edge values of C's Annex F. The host computes in the next wider type, so its own error is negligible.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"

#include <numbers>

namespace volley {
namespace {

using testing::Case;
using testing::Random;

template <class T>
struct Wider {
    using type = double;
};
template <>
struct Wider<double> {
    using type = long double;
};
template <class T>
using wider = typename Wider<T>::type;

/// Covers every exponent, and densely the ranges where the functions change quickly.
template <class T>
std::vector<T> arguments(u64 seed) {
    auto values = testing::samples<T>(1500, seed);
    Random random(testing::seed_or(seed + 1));
    for (const double range : {1.0, 4.0, 20.0, 90.0, 750.0, 131072.0}) {
        for (int i = 0; i < 400; ++i) values.push_back(static_cast<T>(random.uniform(-range, range)));
    }
    for (int i = 0; i < 300; ++i) values.push_back(static_cast<T>(random.uniform(0.99, 1.01)));
    // Close to the multiples of pi / 2, where sine and cosine vanish.
    for (int i = -200; i <= 200; ++i) values.push_back(static_cast<T>(i * std::numbers::pi / 2));
    return values;
}

/// Returns true if the result is within the bound, and zeros and NaN match, including their sign.
template <class T>
bool within(T got, wider<T> exact, double bound) {
    const T want = static_cast<T>(exact);
    if (want == T(0.0f) && got == T(0.0f) && exact == 0)
        return std::signbit(double(got)) == std::signbit(double(want));
    return testing::ulp_distance(got, want) <= bound;
}

template <class T>
struct UnaryFunction {
    const char* name;
    Value<T> (*device)(const Value<T>&);
    wider<T> (*host)(wider<T>);
    double bound;
};

template <class T>
void check_functions(const std::vector<UnaryFunction<T>>& functions, const std::vector<T>& x) {
    std::vector<Case<T, T>> cases;
    for (const UnaryFunction<T>& f : functions) cases.push_back({f.name, f.device, nullptr});
    const std::vector<T> got = testing::run_cases<T, T>(cases, x);
    for (std::size_t k = 0; k < functions.size(); ++k) {
        const UnaryFunction<T>& f = functions[k];
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const T y = got[k * x.size() + i];
            const auto wide = static_cast<wider<T>>(x[i]);
            // f16 functions compute in f32: their error is half an ulp plus a little.
            const double bound = sizeof(T) == 2 ? 1 : f.bound;
            const auto host = [&](T v) { return f.host(static_cast<wider<T>>(v)); };
            const auto fits = [&](T v, wider<T> exact) { return within<T>(v, exact, bound); };
            if (testing::agrees(y, fits, host, x[i])) continue;
            if (++wrong > 3) continue;
            ADD_FAILURE() << f.name << " of " << testing::show(x[i]) << ": got " << testing::show(y)
                          << ", not " << testing::show(static_cast<T>(f.host(wide))) << "; "
                          << testing::ulp_distance(y, static_cast<T>(f.host(wide))) << " ulp";
        }
        if (wrong > 3) ADD_FAILURE() << f.name << ": " << wrong << " of " << x.size() << " results are wrong";
    }
}

#define UNARY(function, bound)                                                                       \
    {                                                                                                \
#function, [](V v) { return function(v); }, [](W v) -> W { return std::function(v); }, bound \
    }

template <class T>
void check_exponentials() {
    using V = const Value<T>&;
    using W = wider<T>;
    check_functions<T>(
        {UNARY(exp, 2),
         UNARY(exp2, 2),
         UNARY(expm1, 4),
         UNARY(log, 2),
         UNARY(log2, 2),
         UNARY(log10, 4),
         UNARY(log1p, 4),
         {"exp10", [](V x) { return exp10(x); }, [](W x) -> W { return std::pow(W(10), x); }, 4}},
        arguments<T>(61));
}

VOLLEY_DEVICE_TEST(Math, ExponentialsAndLogarithms) {
    each_type<f32, f64>([]<class T>() { check_exponentials<T>(); });
}

template <class T>
void check_roots() {
    using V = const Value<T>&;
    using W = wider<T>;
    check_functions<T>(
        {UNARY(cbrt, 4),
         {"rsqrt", [](V x) { return rsqrt(x); }, [](W x) -> W { return 1 / std::sqrt(x); }, 2},
         {"inversesqrt", [](V x) { return inversesqrt(x); }, [](W x) -> W { return 1 / std::sqrt(x); }, 2}},
        arguments<T>(62));
}

VOLLEY_DEVICE_TEST(Math, Roots) {
    each_type<f32, f64>([]<class T>() { check_roots<T>(); });
}

template <class T>
void check_inverse_trigonometry() {
    using V = const Value<T>&;
    using W = wider<T>;
    check_functions<T>({UNARY(asin, 4), UNARY(acos, 4), UNARY(atan, 4)}, arguments<T>(63));
}

VOLLEY_DEVICE_TEST(Math, InverseTrigonometry) {
    each_type<f32, f64>([]<class T>() { check_inverse_trigonometry<T>(); });
}

template <class T>
void check_hyperbolic() {
    using V = const Value<T>&;
    using W = wider<T>;
    check_functions<T>(
        {UNARY(sinh, 4), UNARY(cosh, 4), UNARY(tanh, 4), UNARY(asinh, 4), UNARY(acosh, 4), UNARY(atanh, 4)},
        arguments<T>(64));
}

VOLLEY_DEVICE_TEST(Math, HyperbolicFunctions) {
    each_type<f32, f64>([]<class T>() { check_hyperbolic<T>(); });
}

// Near zeros beyond pi, an absolute bound applies instead; beyond 2^17, twice the relative one.
template <class T>
void check_trigonometry() {
    using V = const Value<T>&;
    using W = wider<T>;
    const auto x = arguments<T>(65);
    const Case<T, T> sine = {"sin", [](V v) { return sin(v); }, nullptr};
    const Case<T, T> cosine = {"cos", [](V v) { return cos(v); }, nullptr};
    const std::vector<T> got = testing::run_cases<T, T>({sine, cosine}, x);
    for (std::size_t k = 0; k < 2; ++k) {
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto host = [&](T v) { return k == 0 ? std::sin(W(v)) : std::cos(W(v)); };
            const W exact = host(x[i]);
            const T y = got[k * x.size() + i];
            const double size = std::fabs(static_cast<double>(x[i]));
            double bound = 2;
            if (sizeof(T) == 4 && size >= 131072) bound = 4;
            const auto fits = [&](T v, W e) { return within<T>(v, e, bound); };
            if (testing::agrees(y, fits, host, x[i])) continue;
            if (sizeof(T) == 4 && size > 3 && size < 131072 && std::fabs(W(y) - exact) <= 0x1p-23) continue;
            if (++wrong > 3) continue;
            ADD_FAILURE() << (k == 0 ? "sin" : "cos") << " of " << testing::show(x[i]) << ": got "
                          << testing::show(y) << ", not " << testing::show(static_cast<T>(exact)) << "; "
                          << testing::ulp_distance(y, static_cast<T>(exact)) << " ulp";
        }
        EXPECT_EQ(wrong, 0u);
    }
    check_functions<T>({UNARY(tan, 4)}, x);
}

VOLLEY_DEVICE_TEST(Math, Trigonometry) {
    each_type<f32, f64>([]<class T>() { check_trigonometry<T>(); });
}

VOLLEY_DEVICE_TEST(Math, HalfFunctionsComputeInFloat) {
    if (!supports<f16>()) GTEST_SKIP() << device_name() << " has no f16";
    using T = half;
    using V = const Value<half>&;
    using W = double;
    std::vector<half> x;
    for (u32 bits = 0; bits < 0x10000; bits += 11) x.push_back(half::from_bits(static_cast<u16>(bits)));
    for (const half v : testing::edge_values<half>()) x.push_back(v);
    check_functions<T>({UNARY(sin, 1), UNARY(cos, 1), UNARY(tan, 1), UNARY(exp, 1), UNARY(exp2, 1),
                        UNARY(log, 1), UNARY(log2, 1), UNARY(sqrt, 1)},
                       x);
    check_functions<T>({UNARY(asin, 1), UNARY(acos, 1), UNARY(atan, 1), UNARY(sinh, 1), UNARY(cosh, 1),
                        UNARY(tanh, 1), UNARY(asinh, 1), UNARY(acosh, 1), UNARY(atanh, 1)},
                       x);
    check_functions<T>(
        {UNARY(expm1, 1),
         UNARY(log10, 1),
         UNARY(log1p, 1),
         UNARY(cbrt, 1),
         {"rsqrt", [](V v) { return rsqrt(v); }, [](W v) -> W { return 1 / std::sqrt(v); }, 1},
         {"exp10", [](V v) { return exp10(v); }, [](W v) -> W { return std::pow(10.0, v); }, 1}},
        x);
}

template <class T>
struct Function2 {
    const char* name;
    Value<T> (*device)(const Value<T>&, const Value<T>&);
    wider<T> (*host)(wider<T>, wider<T>);
    double bound;
};

template <class T>
void check_binary(const std::vector<Function2<T>>& functions, const std::vector<T>& x,
                  const std::vector<T>& y) {
    std::vector<Case<T, T, T>> cases;
    for (const Function2<T>& f : functions) cases.push_back({f.name, f.device, nullptr});
    const std::vector<T> got = testing::run_cases<T, T, T>(cases, x, y);
    for (std::size_t k = 0; k < functions.size(); ++k) {
        const Function2<T>& f = functions[k];
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const T g = got[k * x.size() + i];
            const wider<T> exact = f.host(static_cast<wider<T>>(x[i]), static_cast<wider<T>>(y[i]));
            const auto host = [&](T a, T b) {
                return f.host(static_cast<wider<T>>(a), static_cast<wider<T>>(b));
            };
            const auto fits = [&](T v, wider<T> e) { return within<T>(v, e, sizeof(T) == 2 ? 1 : f.bound); };
            if (testing::agrees(g, fits, host, x[i], y[i])) continue;
            if (++wrong > 3) continue;
            ADD_FAILURE() << f.name << " of (" << testing::show(x[i]) << ", " << testing::show(y[i])
                          << "): got " << testing::show(g) << ", not " << testing::show(static_cast<T>(exact))
                          << "; " << testing::ulp_distance(g, static_cast<T>(exact)) << " ulp";
        }
        if (wrong > 3) ADD_FAILURE() << f.name << ": " << wrong << " of " << x.size() << " results are wrong";
    }
}

template <class T>
void check_functions_of_two() {
    using V = const Value<T>&;
    using W = wider<T>;
    auto [x, y] = testing::sample_pairs<T>(1500, 66);
    Random random(testing::seed_or(67));
    for (int i = 0; i < 1500; ++i) {
        x.push_back(static_cast<T>(random.uniform(-10, 100)));
        y.push_back(static_cast<T>(random.uniform(-20, 20)));
        if (i % 3 == 0) y.back() = static_cast<T>(std::round(static_cast<double>(y.back())));
    }
    check_binary<T>(
        {{"pow", [](V a, V b) { return pow(a, b); }, [](W a, W b) -> W { return std::pow(a, b); }, 4},
         {"atan2", [](V a, V b) { return atan2(a, b); }, [](W a, W b) -> W { return std::atan2(a, b); }, 4},
         {"hypot", [](V a, V b) { return hypot(a, b); }, [](W a, W b) -> W { return std::hypot(a, b); }, 4}},
        x, y);
}

VOLLEY_DEVICE_TEST(Math, PowerAngleAndHypotenuse) {
    each_type<f16, f32, f64>([]<class T>() { check_functions_of_two<T>(); });
}

// Uniform values and constants, which the compiler handles differently, must have the same results.
template <class T>
void check_shared_arguments() {
    using W = wider<T>;
    auto run = kernel("uniform", [](Buff<T> out, Const<T> x, Const<T> y) {
        const auto i = global_id().x;
        out[i] = exp(x) + 0;
        out[i + 8u] = sin(x);
        out[i + 16u] = pow(x, y);
        out[i + 24u] = atan2(y, x);
        out[i + 32u] = log2(x);
        out[i + 40u] = exp(Value<T>(T(0.75f)));
        out[i + 48u] = pow(Value<T>(T(1.5f)), 3);
        out[i + 56u] = cbrt(Value<T>(T(-27.0f)));
    });
    for (const double v : {0.3, 1.0, 2.5, -0.0}) {
        const auto x = static_cast<T>(v);
        Buffer<T> out(64);
        run.over(8)(out, x, T(2.0f));
        const std::vector<T> got = out.read(0);
        const W exact[] = {std::exp(W(x)),  std::sin(W(x)),    std::pow(W(x), W(2)),   std::atan2(W(2), W(x)),
                           std::log2(W(x)), std::exp(W(0.75)), std::pow(W(1.5), W(3)), W(-3)};
        for (std::size_t k = 0; k < 64; ++k) {
            EXPECT_LE(testing::ulp_distance(got[k], static_cast<T>(exact[k / 8])), 4)
                << "function " << k / 8 << " of " << v;
        }
    }
}

VOLLEY_DEVICE_TEST(Math, OfUniformValuesAndConstantsIsTheSame) {
    each_type<f32, f64>([]<class T>() { check_shared_arguments<T>(); });
}

// Lanes with special arguments must not affect their neighbours, nor lanes that do not run the function.
VOLLEY_DEVICE_TEST(Math, LanesDoNotDisturbEachOther) {
    std::vector<float> x;
    for (int i = 0; i < 200; ++i) {
        x.push_back(i % 7 == 3    ? INFINITY
                    : i % 11 == 5 ? NAN
                    : i % 5 == 0  ? 1e30f
                                  : 0.01f * static_cast<float>(i));
    }
    Buffer<float> out(x.size());
    out.fill(-5.0f);
    kernel("some", [](Buff<const float> in, Buff<float> to) {
        const auto i = global_id().x;
        $if (i % 3u != 1u) {
            to[i] = sin(in[i]);
        }
        $elif (in[i] > 0.5f) {
            to[i] = pow(in[i], 0.25f) + atan(in[i]);
        }
    }).over(x.size())(as_buffer(x), out);
    const auto got = out.read(0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double v = x[i];
        const double want = i % 3 != 1 ? std::sin(v) : x[i] > 0.5f ? std::pow(v, 0.25) + std::atan(v) : -5.0;
        if (std::isnan(want))
            EXPECT_TRUE(std::isnan(got[i])) << i;
        else if (std::isinf(want))
            EXPECT_EQ(got[i], want) << i;
        else
            EXPECT_NEAR(got[i], want, 4e-7 * std::fabs(want) + 2e-7) << i;
    }
}

}  // namespace
}  // namespace volley
