// The operators and exact functions of floats, for every float type and on edge values, against the host.
#include "device/operations.hpp"

namespace volley::testing {
namespace {

// f16 computes in f32 and rounds.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, half>, float, T>;
template <class T>
Compute<T> up(T x) {
    return static_cast<Compute<T>>(x);
}

template <class T>
std::vector<Binary<T>> float_operators() {
    using V = const Value<T>&;
    return {
        {"+", [](V x, V y) { return x + y; }, [](T x, T y) { return T(up(x) + up(y)); }},
        {"-", [](V x, V y) { return x - y; }, [](T x, T y) { return T(up(x) - up(y)); }},
        {"*", [](V x, V y) { return x * y; }, [](T x, T y) { return T(up(x) * up(y)); }},
        {"/", [](V x, V y) { return x / y; }, [](T x, T y) { return T(up(x) / up(y)); }},
        {"fmod", [](V x, V y) { return fmod(x, y); }, [](T x, T y) { return T(std::fmod(up(x), up(y))); }},
        {"fma", [](V x, V y) { return fma(x, y, x); },
         [](T x, T y) { return T(std::fma(up(x), up(y), up(x))); }},
        {"x + 0.5", [](V x, V) { return x + 0.5; }, [](T x, T) { return T(up(x) + Compute<T>(0.5)); }},
        {"1 / x", [](V x, V) { return 1 / x; }, [](T x, T) { return T(1 / up(x)); }},
        {"x / 3", [](V x, V) { return x / 3; }, [](T x, T) { return T(up(x) / 3); }},
        {"x / 4", [](V x, V) { return x / 4; }, [](T x, T) { return T(up(x) / 4); }},
        {"x - x", [](V x, V) { return x - x; }, [](T x, T) { return T(up(x) - up(x)); }},
        {"x * 0", [](V x, V) { return x * 0; }, [](T x, T) { return T(up(x) * 0); }},
        {"x + 0", [](V x, V) { return x + 0; }, [](T x, T) { return T(up(x) + 0); }},
        {"select", [](V x, V y) { return select(x < y, x, y); },
         [](T x, T y) { return up(x) < up(y) ? x : y; }},
        // Adding zero makes one zero of both: min(0, -0) may be either.
        {"min", [](V x, V y) { return min(x, y) + 0; },
         [](T x, T y) { return T(std::fmin(up(x), up(y)) + 0); }},
        {"max", [](V x, V y) { return max(x, y) + 0; },
         [](T x, T y) { return T(std::fmax(up(x), up(y)) + 0); }},
    };
}

template <class T>
T sign_of(T x) {
    return up(x) > 0 ? T(Compute<T>(1)) : up(x) < 0 ? T(Compute<T>(-1)) : T(up(x) + 0);
}

template <class T>
std::vector<Unary<T>> float_functions() {
    using V = const Value<T>&;
    return {
        {"-x", [](V x) { return -x; }, [](T x) { return -x; }},
        {"abs", [](V x) { return abs(x); }, [](T x) { return T(std::fabs(up(x))); }},
        {"sign", [](V x) { return sign(x) + 0; }, [](T x) { return sign_of(x); }},
        {"floor", [](V x) { return floor(x); }, [](T x) { return T(std::floor(up(x))); }},
        {"ceil", [](V x) { return ceil(x); }, [](T x) { return T(std::ceil(up(x))); }},
        {"trunc", [](V x) { return trunc(x); }, [](T x) { return T(std::trunc(up(x))); }},
        {"round", [](V x) { return round(x); }, [](T x) { return T(std::round(up(x))); }},
        {"round_even", [](V x) { return round_even(x); }, [](T x) { return T(std::nearbyint(up(x))); }},
        {"sqrt", [](V x) { return sqrt(x); }, [](T x) { return T(std::sqrt(up(x))); }},
        {"fract", [](V x) { return fract(x); }, [](T x) { return T(up(x) - std::floor(up(x))); }},
        {"clamp", [](V x) { return clamp(x, -1, 1) + 0; },
         [](T x) { return T(std::fmin(std::fmax(up(x), Compute<T>(-1)), Compute<T>(1)) + 0); }},
        {"step", [](V x) { return step(0.5, x); },
         [](T x) { return T(Compute<T>(up(x) < Compute<T>(0.5) ? 0 : 1)); }},
    };
}

template <class T>
std::vector<Binary<T, bool>> comparisons() {
    using V = const Value<T>&;
    return {
        {"==", [](V x, V y) { return x == y; }, [](T x, T y) { return up(x) == up(y); }},
        {"!=", [](V x, V y) { return x != y; }, [](T x, T y) { return up(x) != up(y); }},
        {"<", [](V x, V y) { return x < y; }, [](T x, T y) { return up(x) < up(y); }},
        {"<=", [](V x, V y) { return x <= y; }, [](T x, T y) { return up(x) <= up(y); }},
        {">", [](V x, V y) { return x > y; }, [](T x, T y) { return up(x) > up(y); }},
        {">=", [](V x, V y) { return x >= y; }, [](T x, T y) { return up(x) >= up(y); }},
        {"!(x < y)", [](V x, V y) { return !(x < y); }, [](T x, T y) { return !(up(x) < up(y)); }},
        {"isnan", [](V x, V) { return isnan(x); }, [](T x, T) { return std::isnan(up(x)); }},
        {"isinf", [](V x, V) { return isinf(x); }, [](T x, T) { return std::isinf(up(x)); }},
        {"isfinite", [](V x, V) { return isfinite(x); }, [](T x, T) { return std::isfinite(up(x)); }},
    };
}

template <class T>
void check_floats() {
    const auto pairs = edge_pairs<T>();
    check_binary(pairs.first, pairs.second, float_operators<T>());
    check_unary(edge_values<T>(), float_functions<T>());
    check_binary(pairs.first, pairs.second, comparisons<T>());
}

VOLLEY_DEVICE_TEST(Float, F16OperationsAgreeWithTheHost) { check_floats<half>(); }
VOLLEY_DEVICE_TEST(Float, F32OperationsAgreeWithTheHost) { check_floats<float>(); }
VOLLEY_DEVICE_TEST(Float, F64OperationsAgreeWithTheHost) { check_floats<double>(); }

VOLLEY_DEVICE_TEST(Float, MultiplyAndAddOfOneExpressionIsContracted) {
    // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24: the last term is lost unless the product is not rounded.
    const float x = 1.0f + 0x1p-12f;
    Buffer<float> data = as_buffer({x});
    kernel("contracted", [](Buff<float> d) { d[0] = d[0] * d[0] - (1.0f + 0x1p-11f); }).over(1)(data);
    EXPECT_EQ(data.read(0)[0], 0x1p-24f);
}

VOLLEY_DEVICE_TEST(Float, SubnormalsAreKept) {
    if (!this_device().keeps_subnormals) GTEST_SKIP() << "this device flushes them";
    Buffer<float> data = as_buffer({0x1p-140f, 0x1p-126f});
    kernel("halve", [](Buff<float> d) {
        const auto i = global_id().x;
        d[i] = d[i] * 0.5f;
    })(data);
    EXPECT_EQ(data.read(0), (std::vector<float>{0x1p-141f, 0x1p-127f}));
}

VOLLEY_DEVICE_TEST(Float, ModfSplitsWithTheSignOfItsArgument) {
    const std::vector<float> inputs = {2.75f, -2.75f, 0.5f, -0.0f, 3.0f};
    Buffer<float> in = as_buffer(inputs);
    Buffer<float> whole(5), fraction(5);
    kernel("modf", [](Buff<const float> x, Buff<float> w, Buff<float> f) {
        const auto i = global_id().x;
        const auto parts = modf(x[i]);
        w[i] = parts.whole;
        f[i] = parts.fraction;
    })(in, whole, fraction);
    EXPECT_EQ(whole.read(0), (std::vector<float>{2, -2, 0, 0, 3}));
    EXPECT_EQ(fraction.read(0), (std::vector<float>{0.75f, -0.75f, 0.5f, 0, 0}));
}

}  // namespace
}  // namespace volley::testing
