// ravel_index and unravel_index, with host and kernel extents; functions that take and return Values.
#include "support/device_fixture.hpp"
#include "support/device_map.hpp"

namespace volley {
namespace {

VOLLEY_DEVICE_TEST(Index, UnravelsByHostExtents) {
    constexpr u32 n = 4 * 5 * 7;
    Buffer<uvec3> out(n);
    Buffer<u32> back(n);
    kernel("unravel", [](Buff<uvec3> o, Buff<u32> b) {
        const auto i = global_id().x;
        const auto [z, y, x] = unravel_index(i, 4, 5, 7);
        o[i] = make_vec(z, y, x);
        b[i] = ravel_index(std::array{z, y, x}, 4, 5, 7);
    }).over(n)(out, back);
    const auto got = out.read(0);
    const auto raveled = back.read(0);
    for (u32 i = 0; i < n; ++i) {
        EXPECT_TRUE(got[i] == uvec3(i / 35, i / 7 % 5, i % 7)) << i << ": " << testing::show(got[i]);
        EXPECT_EQ(raveled[i], i);
    }
}

VOLLEY_DEVICE_TEST(Index, UnravelsByKernelExtents) {
    constexpr u32 n = 6 * 11;
    Buffer<uvec2> out(n);
    Buffer<u32> back(n);
    kernel("unravel", [](Buff<uvec2> o, Buff<u32> b, Const<u32> h, Const<u32> w) {
        const auto i = global_id().x;
        const auto [y, x] = unravel_index(i, h, w);
        o[i] = make_vec(y, x);
        b[i] = ravel_index(std::array{x, y}, w, h);
        const std::array<Value<u32>, 2> extents = {h, w};
        const auto again = unravel_index(i, extents);
        $if (again[0] != y || again[1] != x) {
            b[i] = 999u;
        }
    }).over(n)(out, back, 6u, 11u);
    const auto got = out.read(0);
    const auto raveled = back.read(0);
    for (u32 i = 0; i < n; ++i) {
        EXPECT_TRUE(got[i] == uvec2(i / 11, i % 11)) << i;
        EXPECT_EQ(raveled[i], i % 11 * 6 + i / 11);
    }
}

VOLLEY_DEVICE_TEST(Index, WorksInOtherIntegerTypes) {
    constexpr u32 n = 2 * 3 * 4 * 5;
    Buffer<i64> out(n);
    kernel("unravel", [](Buff<i64> o) {
        const auto i = cast<i64>(global_id().x);
        const auto at = unravel_index(i, std::array{2, 3, 4, 5});
        o[i] = at[0] * 1000 + at[1] * 100 + at[2] * 10 + at[3];
    }).over(n)(out);
    const auto got = out.read(0);
    for (i64 i = 0; i < n; ++i) {
        EXPECT_EQ(got[static_cast<std::size_t>(i)], i / 60 * 1000 + i / 20 % 3 * 100 + i / 5 % 4 * 10 + i % 5)
            << i;
    }
}

Value<float> square(const Value<float>& x) { return x * x; }

/// Recursion on the host is unrolled.
Value<float> power(const Value<float>& x, unsigned n) {
    if (n == 0) return Value<float>(1.0f);
    const auto half = power(x, n / 2);
    return n % 2 == 0 ? half * half : half * half * x;
}

void add_to(Var<float>& sum, const Value<float>& x) {
    $if (x > 0.5f) {
        sum += x;
    }
}

template <class T>
Value<T> largest_of(const Buff<const T>& data, const Value<u32>& from, u32 count) {
    Var<T> most = data[from];
    $for (k, 1u, count) {
        most = max(most, data[from + k]);
    }
    return most;
}

VOLLEY_DEVICE_TEST(Callable, FunctionsTakeAndReturnValues) {
    constexpr u32 n = 50;
    std::vector<float> in;
    for (u32 i = 0; i < n + 4; ++i) in.push_back(static_cast<float>(i * 7 % 13) * 0.125f);
    Buffer<float> out(n);
    kernel("call", [](Buff<const float> x, Buff<float> y) {
        const auto i = global_id().x;
        Var<float> sum = square(x[i]) + power(x[i], 5);
        add_to(sum, x[i]);
        add_to(sum, 0.25f);
        sum += largest_of<float>(x, i, 4);
        const auto local = [&](const Value<float>& v) { return v * 2.0f + sum; };
        y[i] = local(x[i]);
    }).over(n)(as_buffer(in), out);
    const auto got = out.read(0);
    for (std::size_t i = 0; i < n; ++i) {
        const double x = in[i];
        const double sum =
            x * x + std::pow(x, 5) + (x > 0.5 ? x : 0) + std::max({in[i], in[i + 1], in[i + 2], in[i + 3]});
        EXPECT_NEAR(got[i], x * 2 + sum, 1e-5) << i;
    }
}

// Host ifs and loops determine what is traced.
VOLLEY_DEVICE_TEST(Callable, HostFunctionsBuildKernels) {
    const auto polynomial = [](const std::vector<float>& coefficients) {
        return kernel("polynomial", [coefficients](Buff<float> d) {
            const auto x = d[global_id().x];
            Value<float> y = 0.0f;
            std::vector<Value<float>> terms = {y};
            for (const float c : coefficients) terms.push_back(terms.back() * x + c);
            d[global_id().x] = terms.back();
        });
    };
    Buffer<float> data = as_buffer({0.0f, 1.0f, 2.0f, -1.0f});
    polynomial({1, 0, -3})(data);
    EXPECT_EQ(data.read(0), (std::vector<float>{-3, -2, 1, -2}));
    polynomial({2, 1})(data);
    EXPECT_EQ(data.read(0), (std::vector<float>{-5, -3, 3, -3}));
    polynomial({})(data);
    EXPECT_EQ(data.read(0), (std::vector<float>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace volley
