// Mapped arrays with more kernels than the library keeps.
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/transform.hpp>
#include <volley/volley.hpp>

#include <gtest/gtest.h>

namespace volley {
namespace {

TEST(ManyMaps, AreTracedAgainWhenTheirKernelsWereRemoved) {
    const Context context = make_context({.devices = {"cpu:0"}});
    const auto use = context.use();
    const Buffer<int> a = as_buffer({0, 1, 2, 3});
    for (int k = 0; k < 1200; ++k) {
        const int number = k % 600;
        const auto add = map([number](Value<u32> i, Buff<const int> x) { return x[i] + number; });
        const Buffer<int> got = evaluate(add(a));
        if (k % 100 == 0) {
            EXPECT_EQ(got.read(0)[3], 3 + number);
        }
    }
}

}  // namespace
}  // namespace volley
