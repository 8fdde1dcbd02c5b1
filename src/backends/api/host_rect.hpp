// Rows that lie apart, moved by the calling thread.
#pragma once

#include "backends/api/rect.hpp"

#include <cstddef>
#include <span>

namespace volley::backend {

/// Short rows cost little more than their bytes: no call is made for one.
void copy_rows(std::byte* to, const RectPlace& to_at, const std::byte* from, const RectPlace& from_at,
               const Rect& rect);

/// Each row starts with the pattern's first byte.
void fill_rows(std::byte* to, const RectPlace& at, const Rect& rect, std::span<const std::byte> pattern);

}  // namespace volley::backend
