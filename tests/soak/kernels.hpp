// The kernels of the soak test, each with a model of what it does on the host. All compute with u32, which
// wraps alike everywhere, so results are compared exactly.
#pragma once

#include <volley/volley.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace volley::soak {

using Numbers = std::vector<u32>;

/// y[i] = y[i] + a x[i mod size of x] + 1
[[nodiscard]] inline auto make_axpy() {
    return kernel("axpy", [](Buff<u32> y, Buff<const u32> x, Const<u32> size, Const<u32> a) {
        auto i = cast<u32>(global_id().x);
        y[i] = y[i] + a * x[i % size] + 1u;
    });
}
inline void axpy(Numbers& y, const Numbers& x, u32 a) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i % x.size()] + 1u;
}

/// Reverses each whole group of 64 elements through shared memory.
inline constexpr unsigned group = 64;
[[nodiscard]] inline auto make_reverse() {
    return kernel("reverse", {.local = {group}}, [](Buff<u32> y) {
        Shared<u32> tile(group);
        auto i = global_id().x;
        auto l = local_id().x;
        tile[l] = y[i];
        barrier();
        y[i] = tile[63u - l];
    });
}
inline void reverse(Numbers& y) {
    for (std::size_t first = 0; first + group <= y.size(); first += group)
        std::reverse(y.begin() + static_cast<std::ptrdiff_t>(first),
                     y.begin() + static_cast<std::ptrdiff_t>(first + group));
}

/// y[i mod size of y] += x[i], atomically.
[[nodiscard]] inline auto make_gather() {
    return kernel("gather", [](Buff<u32> y, Buff<const u32> x, Const<u32> size) {
        auto i = cast<u32>(global_id().x);
        y.atomic(i % size).add(x[i]);
    });
}
inline void gather(Numbers& y, const Numbers& x) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i % y.size()] += x[i];
}

/// `rounds` steps of a linear congruential generator on each element.
[[nodiscard]] inline auto make_churn() {
    return kernel("churn", [](Buff<u32> y, Const<u32> rounds) {
        auto i = global_id().x;
        Var<u32> v = y[i];
        $for (k, 0u, rounds) {
            v = v * 1664525u + (1013904223u ^ k);
        }
        y[i] = v;
    });
}
inline void churn(Numbers& y, u32 rounds) {
    for (u32& v : y) {
        for (u32 k = 0; k < rounds; ++k) v = v * 1664525u + (1013904223u ^ k);
    }
}

/// y[i] = (y[i] xor key) + i. Each key is another kernel to compile.
[[nodiscard]] inline auto make_mix(u32 key) {
    return kernel("mix", [key](Buff<u32> y) {
        auto i = cast<u32>(global_id().x);
        y[i] = (y[i] ^ key) + i;
    });
}
inline void mix(Numbers& y, u32 key) {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = (y[i] ^ key) + static_cast<u32>(i);
}

/// The kernels that are made once and shared by all threads and contexts.
struct Kernels {
    decltype(make_axpy()) axpy = make_axpy();
    decltype(make_reverse()) reverse = make_reverse();
    decltype(make_gather()) gather = make_gather();
    decltype(make_churn()) churn = make_churn();
};

}  // namespace volley::soak
