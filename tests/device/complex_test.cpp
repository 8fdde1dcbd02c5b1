// Complex numbers with parts of f16, f32 and f64: arithmetic with complex and real operands, and their
// functions.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"
#include "support/edge_values.hpp"

namespace volley {
namespace {

using testing::check_cases;
using testing::check_exact;

template <class F>
[[nodiscard]] c128 wide(std::complex<F> z) {
    return {static_cast<double>(z.real()), static_cast<double>(z.imag())};
}
template <class F>
[[nodiscard]] std::complex<F> narrow(c128 z) {
    return {static_cast<F>(z.real()), static_cast<F>(z.imag())};
}

template <class F>
std::vector<std::complex<F>> numbers(std::size_t count, u64 seed) {
    testing::Random random(testing::seed_or(seed));
    std::vector<std::complex<F>> result = {narrow<F>({1, 0}),  narrow<F>({0, 1}), narrow<F>({-1, 0}),
                                           narrow<F>({0, -2}), narrow<F>({3, 4}), narrow<F>({-3, -4})};
    while (result.size() < count) {
        result.push_back(narrow<F>({random.uniform(-6, 6), random.uniform(-6, 6)}));
    }
    return result;
}

/// Returns true if two complex numbers are within `bound` units of `size` times the type's epsilon.
template <class F>
[[nodiscard]] bool close(std::complex<F> got, std::complex<F> want, double size, double bound = 8) {
    return std::abs(wide(got) - wide(want)) <=
           bound * size * static_cast<double>(std::numeric_limits<F>::epsilon());
}

template <class F>
void check_complex_arithmetic() {
    using Z = std::complex<F>;
    using V = const Value<Z>&;
    const auto a = numbers<F>(400, 101);
    const auto b = numbers<F>(400, 102);
    check_cases<Z>(
        [](Z got, Z want, Z x, Z y) {
            return close(got, want, std::abs(wide(x)) + std::abs(wide(y)) + 3, 1);
        },
        {{"a + b", [](V x, V y) { return x + y; }, [](Z x, Z y) { return narrow<F>(wide(x) + wide(y)); }},
         {"a - b", [](V x, V y) { return x - y; }, [](Z x, Z y) { return narrow<F>(wide(x) - wide(y)); }},
         {"-a", [](V x, V) { return -x; }, [](Z x, Z) { return narrow<F>(-wide(x)); }},
         {"a + 2", [](V x, V) { return x + 2; }, [](Z x, Z) { return narrow<F>(wide(x) + 2.0); }},
         {"real(a) - b", [](V x, V y) { return real(x) - y; },
          [](Z x, Z y) { return narrow<F>(wide(x).real() - wide(y)); }},
         {"conj", [](V x, V) { return conj(x); }, [](Z x, Z) { return narrow<F>(std::conj(wide(x))); }}},
        a, b);
    check_cases<Z>(
        [](Z got, Z want, Z x, Z y) {
            return close(got, want, std::abs(wide(x)) * std::abs(wide(y)) + std::abs(wide(x)));
        },
        {{"a * b", [](V x, V y) { return x * y; }, [](Z x, Z y) { return narrow<F>(wide(x) * wide(y)); }},
         {"a * imag(b)", [](V x, V y) { return x * imag(y); },
          [](Z x, Z y) { return narrow<F>(wide(x) * wide(y).imag()); }},
         {"a * 0.5", [](V x, V) { return x * 0.5; }, [](Z x, Z) { return narrow<F>(wide(x) * 0.5); }}},
        a, b);
    check_cases<Z>(
        [](Z got, Z want, Z, Z) { return close(got, want, std::abs(wide(want))); },
        {{"a / b", [](V x, V y) { return x / y; }, [](Z x, Z y) { return narrow<F>(wide(x) / wide(y)); }},
         {"a / 4", [](V x, V) { return x / 4; }, [](Z x, Z) { return narrow<F>(wide(x) / 4.0); }},
         {"1 / b", [](V, V y) { return 1 / y; }, [](Z, Z y) { return narrow<F>(1.0 / wide(y)); }}},
        a, b);
}

VOLLEY_DEVICE_TEST(Complex, HasArithmetic) {
    each_type<f16, f32, f64>([]<class F>() { check_complex_arithmetic<F>(); });
}

template <class F>
void check_complex_functions() {
    using Z = std::complex<F>;
    using V = const Value<Z>&;
    const auto a = numbers<F>(400, 103);
    const auto near = [](F got, F want, Z x) {
        return std::fabs(double(got) - double(want)) <=
               6 * (1 + std::norm(wide(x))) * static_cast<double>(std::numeric_limits<F>::epsilon());
    };
    check_cases<F>(
        near,
        {{"abs", [](V x) { return abs(x); }, [](Z x) { return static_cast<F>(std::abs(wide(x))); }},
         {"arg", [](V x) { return arg(x); }, [](Z x) { return static_cast<F>(std::arg(wide(x))); }},
         {"norm", [](V x) { return norm(x); }, [](Z x) { return static_cast<F>(std::norm(wide(x))); }},
         {"real", [](V x) { return real(x); }, [](Z x) { return x.real(); }},
         {"imag", [](V x) { return imag(x); }, [](Z x) { return x.imag(); }}},
        a);
    check_cases<Z>(
        [](Z got, Z want, Z x) { return close(got, want, std::abs(wide(want)) + std::abs(wide(x)) + 1, 12); },
        {{"sqrt", [](V x) { return sqrt(x); }, [](Z x) { return narrow<F>(std::sqrt(wide(x))); }},
         {"log", [](V x) { return log(x); }, [](Z x) { return narrow<F>(std::log(wide(x))); }},
         {"cis", [](V x) { return cis(real(x)); },
          [](Z x) { return narrow<F>(std::polar(1.0, wide(x).real())); }},
         {"from_euler", [](V x) { return from_euler(imag(x)); },
          [](Z x) { return narrow<F>(std::polar(1.0, wide(x).imag())); }},
         {"polar", [](V x) { return polar(abs(x), arg(x)); }, [](Z x) { return x; }},
         {"make_complex", [](V x) { return make_complex(imag(x), 2); },
          [](Z x) { return Z(x.imag(), F(2.0f)); }}},
        a);
    check_cases<Z>(
        [](Z got, Z want, Z x) { return close(got, want, std::abs(wide(want)), 10 + 4 * std::abs(wide(x))); },
        {{"exp", [](V x) { return exp(x); }, [](Z x) { return narrow<F>(std::exp(wide(x))); }}}, a);
    check_cases<Z>(
        [](Z got, Z want, Z x) {
            return close(got, want, std::abs(wide(want)), 40 + 10 * std::abs(wide(x)));
        },
        {{"pow", [](V x) { return pow(x, 2.5); }, [](Z x) { return narrow<F>(std::pow(wide(x), 2.5)); }},
         {"2 ** z", [](V x) { return pow(2, x); }, [](Z x) { return narrow<F>(std::pow(2.0, wide(x))); }}},
        a);
}

VOLLEY_DEVICE_TEST(Complex, HasFunctions) {
    each_type<f16, f32, f64>([]<class F>() { check_complex_functions<F>(); });
}

VOLLEY_DEVICE_TEST(Complex, ComparesForEquality) {
    using V = const Value<c64>&;
    const std::vector<c64> a = {{1, 2}, {1, 2}, {1, 2}, {0.0f, -0.0f}, {NAN, 0}};
    const std::vector<c64> b = {{1, 2}, {1, 3}, {0, 2}, {-0.0f, 0.0f}, {NAN, 0}};
    check_exact<bool>({{"a == b", [](V x, V y) { return x == y; }, [](c64 x, c64 y) { return x == y; }},
                       {"a != b", [](V x, V y) { return x != y; }, [](c64 x, c64 y) { return x != y; }},
                       {"a == 1", [](V x, V) { return x == 1; }, [](c64 x, c64) { return x == 1.0f; }}},
                      a, b);
}

VOLLEY_DEVICE_TEST(Complex, DivisionScalesSoThatNothingOverflows) {
    using V = const Value<c64>&;
    const std::vector<c64> a = {{1e30f, 1e30f}, {1e-30f, 2e-30f}, {1e38f, -1e38f}, {3e-20f, 0}, {0, 1e25f}};
    const std::vector<c64> b = {
        {1e30f, -1e30f}, {2e-30f, 1e-30f}, {2e38f, 1e37f}, {1e-25f, 1e-30f}, {1e30f, 1e-30f}};
    check_cases<c64>([](c64 got, c64 want, c64, c64) { return close(got, want, std::abs(wide(want))); },
                     {{"a / b", [](V x, V y) { return x / y; },
                       [](c64 x, c64 y) { return narrow<float>(wide(x) / wide(y)); }}},
                     a, b);
}

/// Numbers near the limits of the range, and on both sides of the branch cut along the negative axis.
template <class F>
std::vector<std::complex<F>> far_numbers() {
    const double most = static_cast<double>(std::numeric_limits<F>::max());
    const double parts[] = {0, -0.0, 1, -4, most, -most, most * 0.6, -most / 3};
    std::vector<std::complex<F>> result;
    for (const double x : parts) {
        for (const double y : parts) result.push_back(narrow<F>({x, y}));
    }
    return result;
}

// In long double no intermediate overflows.
using Far = std::complex<long double>;
template <class F>
[[nodiscard]] Far to_far(std::complex<F> z) {
    return {static_cast<long double>(z.real()), static_cast<long double>(z.imag())};
}
template <class F>
[[nodiscard]] std::complex<F> from_far(Far z) {
    return narrow<F>({static_cast<double>(z.real()), static_cast<double>(z.imag())});
}

template <class F>
void check_far_numbers() {
    using Z = std::complex<F>;
    using V = const Value<Z>&;
    const auto fits = [](Z got, Z want, Z) {
        const auto epsilon = static_cast<long double>(std::numeric_limits<F>::epsilon());
        return std::abs(to_far(got) - to_far(want)) <= 12 * epsilon * std::abs(to_far(want));
    };
    const auto all = far_numbers<F>();
    check_cases<Z>(
        fits,
        {{"sqrt", [](V x) { return sqrt(x); }, [](Z x) { return from_far<F>(std::sqrt(to_far(x))); }},
         {"z / (3 - 4i)",
          [](V x) {
              return x / narrow<F>({3, -4});
          },
          [](Z x) { return from_far<F>(to_far(x) / Far(3, -4)); }}},
        all);
    std::vector<Z> others = all;
    std::erase(others, Z());
    check_cases<Z>(fits,
                   {{"log", [](V x) { return log(x); }, [](Z x) { return from_far<F>(std::log(to_far(x))); }},
                    {"z / z", [](V x) { return x / x; },
                     [](Z) {
                         return narrow<F>({1, 0});
                     }}},
                   others);
}

VOLLEY_DEVICE_TEST(Complex, FunctionsReachTheEndsOfTheRange) {
    each_type<f16, f32, f64>([]<class F>() { check_far_numbers<F>(); });
}

VOLLEY_DEVICE_TEST(Complex, InfinitiesAndOverflowStayOnTheirAxis) {
    constexpr float inf = std::numeric_limits<float>::infinity();
    const std::vector<c64> in = {{200, 0}, {inf, 0},  {1, inf}, {-1, -inf},
                                 {inf, 2}, {-inf, 3}, {2, 0},   {0, 2}};
    const auto exps = testing::map(
        +[](const Value<c64>& z) { return exp(z); }, in);
    EXPECT_EQ(exps[0], c64(inf, 0));
    EXPECT_EQ(exps[1], c64(inf, 0));
    const auto roots = testing::map(
        +[](const Value<c64>& z) { return sqrt(z); }, in);
    EXPECT_EQ(roots[2], c64(inf, inf));
    EXPECT_EQ(roots[3], c64(inf, -inf));
    EXPECT_EQ(roots[4], c64(inf, 0));
    EXPECT_EQ(roots[5], c64(0, inf));
    const auto quotients = testing::map(
        +[](const Value<c64>& z) { return z / (z - z); }, std::vector<c64>{{2, 0}, {-2, 1}});
    EXPECT_EQ(quotients[0].real(), inf);
    EXPECT_EQ(quotients[1], c64(-inf, inf));
}

VOLLEY_DEVICE_TEST(Complex, CompoundAssignmentAndHostConstants) {
    const auto a = numbers<float>(100, 104);
    Buffer<c64> data = as_buffer(a);
    kernel("compound", [](Buff<c64> d) {
        const auto i = global_id().x;
        d[i] *= c64(0, 1);
        d[i] += real(d[i]);
        Var<c64> z = d[i];
        z -= c64(1, 1);
        z /= 2;
        d[i] = z * d[i] + real(z) * c64(1, -1);
    })(data);
    std::vector<c64> want;
    for (const c64 x : a) {
        c128 d = wide(x) * c128(0, 1);
        d += d.real();
        const c128 z = (d - c128(1, 1)) / 2.0;
        want.push_back(narrow<float>(z * d + z.real() * c128(1, -1)));
    }
    testing::expect_each(
        data.read(0), want, [](c64 got, c64 exact, std::size_t) { return close(got, exact, 200); },
        [&](std::size_t i) { return " from " + testing::show(a[i]); });
}

// A uniform value, and values at a neighbour's index: interleaved loads and stores.
template <class F>
void check_moves() {
    using Z = std::complex<F>;
    const Z shift(F(0.5f), F(-0.25f));
    const auto a = numbers<F>(203, 105);
    Buffer<Z> in = as_buffer(a);
    Buffer<Z> out(a.size());
    kernel("reverse", [](Buff<const Z> x, Buff<Z> y, Const<Z> factor) {
        const auto i = global_id().x;
        const auto n = x.size();
        y[i] = conj(x[n - 1u - i]) + factor;
        $if (i % 5u == 2u) {
            y[i] = factor;
        }
    })(in, out, shift);
    std::vector<Z> want;
    for (std::size_t i = 0; i < a.size(); ++i) {
        want.push_back(i % 5 == 2 ? shift : std::conj(a[a.size() - 1 - i]) + shift);
    }
    testing::expect_same(out.read(0), want);
}

VOLLEY_DEVICE_TEST(Complex, MovesThroughBuffersInAnyOrder) {
    each_type<f32, f64>([]<class F>() { check_moves<F>(); });
}

}  // namespace
}  // namespace volley
