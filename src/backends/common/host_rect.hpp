// Rows that lie apart, moved by the calling thread.
#pragma once

#include "backends/api/rect.hpp"
#include "backends/common/stream_copy.hpp"

#include <cstddef>
#include <span>

namespace volley::backends {

/// Short rows cost little more than their bytes: no call is made for one. `streaming`: the whole, of which
/// this may be a part, is more than the caches hold.
void copy_rows(std::byte* to, const RectPlace& to_at, const std::byte* from, const RectPlace& from_at,
               const Rect& rect, bool streaming);
inline void copy_rows(std::byte* to, const RectPlace& to_at, const std::byte* from, const RectPlace& from_at,
                      const Rect& rect) {
    copy_rows(to, to_at, from, from_at, rect, rect.bytes() >= large_copy());
}

/// Each row starts with the pattern's first byte.
void fill_rows(std::byte* to, const RectPlace& at, const Rect& rect, std::span<const std::byte> pattern,
               bool streaming);
inline void fill_rows(std::byte* to, const RectPlace& at, const Rect& rect,
                      std::span<const std::byte> pattern) {
    fill_rows(to, at, rect, pattern, rect.bytes() >= large_copy());
}

}  // namespace volley::backends
