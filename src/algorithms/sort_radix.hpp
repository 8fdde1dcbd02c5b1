// A stable radix sort of rows of encoded keys, by digits from the lowest to the highest. Each row is divided
// into strips. For each digit, every strip counts its keys per digit value, the counts become positions, and
// every strip moves its keys (and their payload) to the other one of two buffers, in order. A digit that is
// the same in all keys of a row moves nothing: rows record for each digit which buffer has their keys.
#pragma once

#include "algorithms/execution.hpp"

#include <volley/algorithms/sort.hpp>

#include <cstdint>

namespace volley::algorithms {

struct RadixSort {
    std::int64_t rows = 0;
    std::int64_t length = 0;    ///< of a row
    unsigned bits = 32;         ///< of a key
    AnyBuffer keys[2] = {};     ///< rows * length words (u32 or u64); the first one has the keys
    AnyBuffer payload[2] = {};  ///< as many values of any type, which move with their keys; or none
};

/// Where the sorted rows are: row r is in buffer `flips[begin + r]`; without flips, all are in the first one.
struct RadixResult {
    AnyBuffer flips;
    std::uint32_t begin = 0;
};

/// Launches the sort. Needs rows * length > 0.
[[nodiscard]] RadixResult radix_sort(const Execution& execution, const Target& target, const RadixSort& sort,
                                     const SortTuning& tuning);

}  // namespace volley::algorithms
