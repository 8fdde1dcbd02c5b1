// Kernels used by the graph tests.
#pragma once

#include "support/backend_test.hpp"
#include "support/counting.hpp"

#include <volley/volley.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace volley::testing {

inline auto scale_by() {
    return kernel("scale_by", [](Buff<float> data, Const<float> alpha) {
        const auto i = global_id().x;
        data[i] = data[i] * alpha;
    });
}
inline auto add_number() {
    return kernel("add_number", [](Buff<float> data, Const<float> x) {
        const auto i = global_id().x;
        data[i] = data[i] + x;
    });
}
/// y += a * x
inline auto axpy() {
    return kernel("axpy", [](Buff<float> y, Buff<const float> x, Const<float> a) {
        const auto i = global_id().x;
        y[i] = y[i] + a * x[i];
    });
}
/// Runs long enough to be observed on every device.
inline auto slow() {
    return kernel("slow", [](Buff<float> data, Const<std::uint32_t> turns) {
        const auto i = global_id().x;
        Var<float> x = data[i];
        $for (k, 0u, turns) {
            x = x * 0.999f + 1.0f;
        }
        data[i] = x;
    });
}

}  // namespace volley::testing
