// A stable merge sort of rows by a comparison of the program. Each invocation first sorts one run of a row
// completely; then passes merge neighbouring runs, twice as long in each pass, between two buffers.
#pragma once

#include "algorithms/execution.hpp"

#include <volley/algorithms/sort.hpp>

#include <cstdint>

namespace volley::algorithms {

struct MergeSort {
    const AnyFunction* less = nullptr;  ///< whether the first element belongs before the second
    bool descending = false;            ///< exchanges the operands of `less`
    std::int64_t rows = 0;
    std::int64_t length = 0;    ///< of a row
    AnyBuffer keys[2] = {};     ///< rows * length elements of any type; the first one has the keys
    AnyBuffer payload[2] = {};  ///< as many values of any type, which move with their keys; or none
};

/// How a merge sort is divided on a device. Invariant: `run` is a power of four, and `strip` a power of two
/// of at most twice the run, so that no strip belongs to two pairs of runs.
struct MergePlan {
    std::int64_t run = 0;    ///< elements that one invocation sorts
    std::int64_t strip = 0;  ///< elements of a result that one invocation merges
    unsigned lanes = 1;      ///< invocations of a workgroup
    unsigned chains = 1;     ///< parts of a strip, merged in turns: they do not wait for each other
    unsigned passes = 0;     ///< merges of runs. The sorted rows are in buffer passes % 2
};

[[nodiscard]] MergePlan plan_merge_sort(const Target& target, std::int64_t length, const SortTuning& tuning);

/// Launches the sort. Needs rows * length > 0.
Event merge_sort(const Target& target, const MergeSort& sort, const MergePlan& plan);

}  // namespace volley::algorithms
