// The functions that have an error bound (docs/ir.md section 4), over edge values, their whole range and
// where people use them, against the host's wider type.
#include "device/operations.hpp"
#include "support/random.hpp"

namespace volley::testing {
namespace {

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;

template <class T>
struct Function {
    const char* name;
    Value<T> (*device)(const Value<T>&, const Value<T>&);
    Wide<T> (*host)(Wide<T>, Wide<T>);
    double ulp;
};

template <class T>
std::vector<Function<T>> functions() {
    using V = const Value<T>&;
    using W = Wide<T>;
    return {
        {"rsqrt", [](V x, V) { return rsqrt(x); }, [](W x, W) { return 1 / std::sqrt(x); }, 2},
        {"cbrt", [](V x, V) { return cbrt(x); }, [](W x, W) { return std::cbrt(x); }, 4},
        {"tan", [](V x, V) { return tan(x); }, [](W x, W) { return std::tan(x); }, 4},
        {"asin", [](V x, V) { return asin(x); }, [](W x, W) { return std::asin(x); }, 4},
        {"acos", [](V x, V) { return acos(x); }, [](W x, W) { return std::acos(x); }, 4},
        {"atan", [](V x, V) { return atan(x); }, [](W x, W) { return std::atan(x); }, 4},
        {"sinh", [](V x, V) { return sinh(x); }, [](W x, W) { return std::sinh(x); }, 4},
        {"cosh", [](V x, V) { return cosh(x); }, [](W x, W) { return std::cosh(x); }, 4},
        {"tanh", [](V x, V) { return tanh(x); }, [](W x, W) { return std::tanh(x); }, 4},
        {"asinh", [](V x, V) { return asinh(x); }, [](W x, W) { return std::asinh(x); }, 4},
        {"acosh", [](V x, V) { return acosh(x); }, [](W x, W) { return std::acosh(x); }, 4},
        {"atanh", [](V x, V) { return atanh(x); }, [](W x, W) { return std::atanh(x); }, 4},
        {"exp", [](V x, V) { return exp(x); }, [](W x, W) { return std::exp(x); }, 2},
        {"exp2", [](V x, V) { return exp2(x); }, [](W x, W) { return std::exp2(x); }, 2},
        {"exp10", [](V x, V) { return exp10(x); }, [](W x, W) { return std::pow(W(10), x); }, 4},
        {"expm1", [](V x, V) { return expm1(x); }, [](W x, W) { return std::expm1(x); }, 4},
        {"log", [](V x, V) { return log(x); }, [](W x, W) { return std::log(x); }, 2},
        {"log2", [](V x, V) { return log2(x); }, [](W x, W) { return std::log2(x); }, 2},
        {"log10", [](V x, V) { return log10(x); }, [](W x, W) { return std::log10(x); }, 4},
        {"log1p", [](V x, V) { return log1p(x); }, [](W x, W) { return std::log1p(x); }, 4},
        {"pow", [](V x, V y) { return pow(x, y); }, [](W x, W y) { return std::pow(x, y); }, 4},
        {"atan2", [](V x, V y) { return atan2(x, y); }, [](W x, W y) { return std::atan2(x, y); }, 4},
        {"hypot", [](V x, V y) { return hypot(x, y); }, [](W x, W y) { return std::hypot(x, y); }, 4},
    };
}

template <class T>
std::vector<Function<T>> periodic_functions() {
    using V = const Value<T>&;
    using W = Wide<T>;
    return {
        {"sin", [](V x, V) { return sin(x); }, [](W x, W) { return std::sin(x); }, 2},
        {"cos", [](V x, V) { return cos(x); }, [](W x, W) { return std::cos(x); }, 2},
    };
}

// Any magnitude, then the numbers that programs mostly compute with.
template <class T>
void append_random(std::vector<T>& values, Random& random, std::size_t count) {
    const int span = std::is_same_v<T, half> ? 14 : std::is_same_v<T, float> ? 126 : 1020;
    for (std::size_t i = 0; i < count; ++i) {
        const double mantissa = random.uniform(1, 2) * (random.chance(50) ? -1 : 1);
        values.push_back(T(std::ldexp(mantissa, static_cast<int>(random.between(-span, span)))));
        values.push_back(T(random.uniform(-12, 12)));
        values.push_back(T(random.uniform(0, 1)));
    }
}

template <class T>
void check(const std::vector<Function<T>>& list, const std::vector<T>& first, const std::vector<T>& second,
           double largest, double extra_ulp, double absolute) {
    std::vector<Binary<T, T>> operations;
    for (const Function<T>& f : list) operations.push_back({f.name, f.device, nullptr});
    const std::vector<T> all = run_all(first, second, operations);
    for (std::size_t k = 0; k < list.size(); ++k) {
        std::vector<T> actual;
        std::vector<T> expected;
        std::vector<std::size_t> from;
        for (std::size_t i = 0; i < first.size(); ++i) {
            if (std::fabs(static_cast<double>(first[i])) > largest) continue;
            actual.push_back(all[first.size() * k + i]);
            expected.push_back(T(list[k].host(Wide<T>(first[i]), Wide<T>(second[i]))));
            from.push_back(i);
        }
        // Half an ulp for the rounding of what is expected; f16 computes in f32 and rounds twice.
        const double ulp = std::is_same_v<T, half> ? 1 : list[k].ulp + extra_ulp + 0.5;
        expect_close(
            actual, expected, ulp, absolute, type_name<T>() + " " + list[k].name,
            [&](std::size_t i) { return text_of(first[from[i]]) + ", " + text_of(second[from[i]]); });
    }
}

template <class T>
void check_functions() {
    const std::uint64_t seed = seed_or(7);
    SCOPED_TRACE("VOLLEY_SEED=" + std::to_string(seed));
    Random random(seed);
    auto [first, second] = edge_pairs<T>();
    append_random(first, random, 300);
    append_random(second, random, 300);
    // Where periods and powers of two begin.
    for (int k = -8; k <= 8; ++k) {
        first.push_back(T(k * 1.5707963267948966));
        first.push_back(T(k * 0.6931471805599453));
        second.push_back(T(double(k)));
        second.push_back(T(k * 0.5));
    }
    const double infinity = std::numeric_limits<double>::infinity();
    check<T>(functions<T>(), first, second, infinity, 0, 0);
    const double zeros = std::is_same_v<T, double> ? 0x1p-52 : 0x1p-23;
    check<T>(periodic_functions<T>(), first, second, 0x1p17, 0, zeros);
    check<T>(periodic_functions<T>(), first, second, infinity, 2, zeros);
}

VOLLEY_DEVICE_TEST(Function, F16FunctionsKeepTheirBounds) { check_functions<half>(); }
VOLLEY_DEVICE_TEST(Function, F32FunctionsKeepTheirBounds) { check_functions<float>(); }
VOLLEY_DEVICE_TEST(Function, F64FunctionsKeepTheirBounds) { check_functions<double>(); }

VOLLEY_DEVICE_TEST(Function, DerivedFunctionsFollowTheirFormulas) {
    const std::vector<float> inputs = {-1.5f, -0.25f, 0.0f, 0.25f, 0.5f, 0.75f, 1.0f, 3.0f};
    Buffer<float> in = as_buffer(inputs);
    const u32 n = static_cast<u32>(inputs.size());
    Buffer<float> out(n * 5);
    kernel("derived", [n](Buff<const float> x, Buff<float> result) {
        const auto i = global_id().x;
        const auto v = x[i];
        result[i] = mix(2.0f, 10.0f, v);
        result[i + n] = smoothstep(0.0f, 1.0f, v);
        result[i + 2 * n] = radians(v);
        result[i + 3 * n] = degrees(v);
        result[i + 4 * n] = mod(v, 0.7f);
    }).over(n)(in, out);
    const auto all = out.read(0);
    for (u32 i = 0; i < n; ++i) {
        const float x = inputs[i];
        const float t = std::min(std::max(x, 0.0f), 1.0f);
        EXPECT_NEAR(all[i], 2 * (1 - x) + 10 * x, 1e-5f);
        EXPECT_NEAR(all[i + n], t * t * (3 - 2 * t), 1e-6f);
        EXPECT_NEAR(all[i + 2 * n], x * 0.017453292f, 1e-6f);
        EXPECT_NEAR(all[i + 3 * n], x * 57.29578f, 1e-4f);
        EXPECT_NEAR(all[i + 4 * n], x - 0.7f * std::floor(x / 0.7f), 1e-6f);
    }
}

}  // namespace
}  // namespace volley::testing
