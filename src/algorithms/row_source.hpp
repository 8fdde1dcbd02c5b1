// Rows along another axis than the last: neighbouring elements of a row are far apart in memory, so that
// workgroups that read one row each would load most cache lines many times. A transposed copy costs less.
#pragma once

#include "algorithms/execution.hpp"
#include "algorithms/sort_rows.hpp"

namespace volley::algorithms {

/// A source and its rows.
struct RowSource {
    AnySource source;
    Rows rows;
};

/// Returns the source, or if its rows are better copied, a contiguous copy with the rows along the last axis.
/// The rows keep their numbers.
[[nodiscard]] RowSource rows_to_read(const Execution& execution, const Target& target,
                                     const AnySource& source, const Rows& rows);
/// Returns whether rows_to_read() copies the source.
[[nodiscard]] bool copies_rows(const AnySource& source, const Rows& rows);

}  // namespace volley::algorithms
