// Rects copied and filled by the calling thread.
#pragma once

#include "backends/api/rect.hpp"
#include "backends/common/pattern.hpp"
#include "backends/common/stream_copy.hpp"

#include <cstddef>
#include <span>

namespace volley::backends {

/// Copies rows. Short rows are copied inline, without a call per row. `streaming` bypasses the caches: the
/// transfer, of which `move` may be a part, exceeds them.
void copy_rows(std::byte* to, const std::byte* from, const RectMove& move, bool streaming);
inline void copy_rows(std::byte* to, const std::byte* from, const RectMove& move) {
    if (move.rect.rows() == 1) return copy_bytes(to + move.to.offset, from + move.from.offset, move.rect.row);
    copy_rows(to, from, move, move.rect.bytes() >= large_copy());
}

/// Repeats the pattern over each row, starting with its first byte.
void fill_rows(std::byte* to, const RectPlace& at, const Rect& rect, std::span<const std::byte> pattern,
               bool streaming);
inline void fill_rows(std::byte* to, const RectPlace& at, const Rect& rect,
                      std::span<const std::byte> pattern) {
    if (rect.rows() == 1 && rect.row < large_copy()) return repeat(to + at.offset, rect.row, pattern);
    fill_rows(to, at, rect, pattern, rect.bytes() >= large_copy());
}

}  // namespace volley::backends
