// Rows are joined before planes.
#include "backends/api/rect_parts.hpp"

namespace volley::backends {

RectMove joined(const RectMove& move) noexcept {
    Rect rect = move.rect;
    RectPlace to = move.to;
    RectPlace from = move.from;
    const auto drop_rows = [&] {  // the planes become the rows
        rect.count = {rect.count[1], 1};
        to.stride = {to.stride[1], 0};
        from.stride = {from.stride[1], 0};
    };
    if (rect.count[1] == 1) to.stride[1] = from.stride[1] = 0;
    if (rect.count[0] == 1) drop_rows();
    while (rect.count[0] > 1 && to.stride[0] == rect.row && from.stride[0] == rect.row) {
        rect.row *= rect.count[0];
        drop_rows();
    }
    if (rect.count[1] > 1 && to.stride[1] == rect.count[0] * to.stride[0] &&
        from.stride[1] == rect.count[0] * from.stride[0]) {
        rect.count = {rect.count[0] * rect.count[1], 1};
        to.stride[1] = from.stride[1] = 0;
    }
    if (rect.count[0] == 1) to.stride[0] = from.stride[0] = 0;
    return {rect, to, from};
}

Rect part_of(const Rect& rect, std::uint64_t bytes) noexcept {
    if (rect.row >= bytes) return {bytes, {1, 1}};
    const std::uint64_t rows = std::min(rect.count[0], bytes / rect.row);
    if (rows < rect.count[0]) return {rect.row, {rows, 1}};
    return {rect.row, {rows, std::min(rect.count[1], bytes / (rect.row * rows))}};
}

}  // namespace volley::backends
