// Evaluation of permuted arrays, for transform() and transpose().
#pragma once

#include "algorithms/source_node.hpp"

#include <volley/algorithms/transpose.hpp>

#include <optional>
#include <vector>

namespace volley::algorithms {

/// Stores a permuted source in tiles. Returns nothing if tiles would not help, because an element's
/// neighbours along the last axis are neighbours in both arrays, or because an axis is short.
[[nodiscard]] std::optional<Event> transpose_in_tiles(const AnySink& to, const detail::Permutation& from,
                                                      const std::optional<Queue>& queue,
                                                      const TransposeTuning& tuning);

}  // namespace volley::algorithms
