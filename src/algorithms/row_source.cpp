// Copies of rows for kernels that read one row per workgroup.
#include "algorithms/row_source.hpp"

#include <volley/algorithms/transpose.hpp>

#include <vector>

namespace volley::algorithms {

bool copies_rows(const AnySource& source, const Rows& rows) {
    constexpr std::int64_t few = 64 * 1024;  // elements that stay in the cache
    if (rows.contiguous() || rows.count == 1 || rows.length == 1 || rows.elements() < few) return false;
    const AnyBuffer* buffer = source.buffer();
    return buffer == nullptr || buffer->strides()[rows.axis] != 1;
}

RowSource rows_to_read(const Execution& execution, const Target& target, const AnySource& source,
                       const Rows& rows) {
    if (!copies_rows(source, rows)) return {source, rows};
    const int rank = rows.shape.rank();
    const std::vector<int> axes = detail::moved_axis(rank, rows.axis, rank - 1);
    std::vector<std::int64_t> extents;
    extents.reserve(axes.size());
    for (const int axis : axes) extents.push_back(rows.shape[axis]);
    const AnyBuffer copy = execution.scratch(source.dtype(), Shape(std::span<const std::int64_t>(extents)));
    transpose(copy, source, {.axes = axes, .queue = target.queue});
    return {copy, Rows(copy.shape(), -1, "rows")};
}

}  // namespace volley::algorithms
