// The choice of stages for a reduction on a device.
#pragma once

#include "algorithms/reduce_stage.hpp"

namespace volley::algorithms {

/// What a plan depends on, apart from the axes.
struct ReduceTask {
    const DeviceInfo* device;
    ReduceTuning tuning;
    bool flat;         ///< elements are found by their row-major number
    bool commutative;  ///< their order does not matter
};

/// Returns the first stage. It writes results if `splits` and `folded` are 1, else states of parts.
[[nodiscard]] StagePlan plan_elements(const ReduceTask& task, const ReduceAxes& axes);
/// Returns a stage that merges states to results.
[[nodiscard]] StagePlan plan_parts(const ReduceTask& task, const ReduceAxes& axes);

}  // namespace volley::algorithms
