// Rects put together and cut: what a backend does before it hands rows to a driver.
#pragma once

#include "backends/api/rect.hpp"

#include <algorithm>
#include <cstdint>

namespace volley::backends {

/// A rect with both its places.
struct RectMove {
    Rect rect;
    RectPlace to;
    RectPlace from;
};

/// The same bytes in fewer or longer rows, where they touch on both sides; strides that mean nothing are 0.
[[nodiscard]] RectMove joined(const RectMove& move) noexcept;

/// Rows side by side.
[[nodiscard]] constexpr RectPlace dense(const Rect& rect, std::uint64_t offset = 0) noexcept {
    return {offset, {rect.row, rect.row * rect.count[0]}};
}

/// Where some bytes of a rect begin, and how many they are.
struct RectPart {
    std::uint64_t byte = 0, row = 0, plane = 0;  // of the first byte
    Rect rect;
    [[nodiscard]] RectPlace in(const RectPlace& whole) const noexcept {
        return {whole.offset + byte + row * whole.stride[0] + plane * whole.stride[1], whole.stride};
    }
};

/// The largest parts of no more than so many bytes: of a row, of a plane, or whole planes.
[[nodiscard]] Rect part_of(const Rect& rect, std::uint64_t bytes) noexcept;

/// Calls f(part) for parts no larger than `most` in each direction, in the order of the bytes.
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
