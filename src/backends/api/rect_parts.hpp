// Merging and splitting rects: what a backend does before it passes rows to a driver.
#pragma once

#include "backends/api/rect.hpp"

#include <algorithm>
#include <cstdint>

namespace volley::backends {

/// Returns the same bytes in fewer, longer rows if rows are adjacent on both sides. Unused strides become 0.
[[nodiscard]] RectMove joined(const RectMove& move) noexcept;

/// Returns the place of contiguous rows.
[[nodiscard]] constexpr RectPlace dense(const Rect& rect, std::uint64_t offset = 0) noexcept {
    return {offset, {rect.row, rect.row * rect.count[0]}};
}

/// A part of a rect: its first byte, relative to the rect, and its extent.
struct RectPart {
    std::uint64_t byte = 0, row = 0, plane = 0;  // of the first byte
    Rect rect;
    /// Its place, if the whole rect is at `whole`.
    [[nodiscard]] RectPlace in(const RectPlace& whole) const noexcept {
        return {whole.offset + byte + row * whole.stride[0] + plane * whole.stride[1], whole.stride};
    }
    [[nodiscard]] RectMove in(const RectMove& whole) const noexcept {
        return {rect, in(whole.to), in(whole.from)};
    }
};

/// Returns the largest extent of a part of at most `bytes`: part of a row, rows of a plane, or whole planes.
[[nodiscard]] Rect part_of(const Rect& rect, std::uint64_t bytes) noexcept;

/// Calls f(part) for parts of at most `most` in each direction, in the order of the bytes.
template <class F>
void for_each_part(const Rect& rect, const Rect& most, F&& f) {
    RectPart part;
    for (part.plane = 0; part.plane < rect.count[1]; part.plane += part.rect.count[1]) {
        part.rect.count[1] = std::min(most.count[1], rect.count[1] - part.plane);
        for (part.row = 0; part.row < rect.count[0]; part.row += part.rect.count[0]) {
            part.rect.count[0] = std::min(most.count[0], rect.count[0] - part.row);
            for (part.byte = 0; part.byte < rect.row; part.byte += part.rect.row) {
                part.rect.row = std::min(most.row, rect.row - part.byte);
                f(static_cast<const RectPart&>(part));
            }
        }
    }
}

}  // namespace volley::backends
