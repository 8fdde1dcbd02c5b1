// Strided rectangles of bytes: the unit of every transfer. An array's region becomes rects when its axes are
// collapsed; a contiguous range is a rect of one row.
#pragma once

#include <array>
#include <cstdint>

namespace volley::backends {

/// The extent: planes of rows of bytes. Counts are never 0; an empty transfer has a row of 0 bytes.
struct Rect {
    std::uint64_t row = 0;                        // contiguous bytes
    std::array<std::uint64_t, 2> count = {1, 1};  // rows in a plane, planes
    [[nodiscard]] std::uint64_t rows() const noexcept { return count[0] * count[1]; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return row * rows(); }
};

/// The position in a block of memory. Rows do not overlap: the row stride is at least the row's length, and
/// the plane stride at least that of the plane's rows. A stride whose count is 1 is ignored. Strides need not
/// be multiples of each other.
struct RectPlace {
    std::uint64_t offset = 0;               // of the first byte
    std::array<std::uint64_t, 2> stride{};  // bytes from row to row, from plane to plane
};

/// A rect with its places in the destination and the source.
struct RectMove {
    Rect rect;
    RectPlace to;
    RectPlace from;

    /// Returns a single row.
    [[nodiscard]] static constexpr RectMove contiguous(std::uint64_t to_offset, std::uint64_t from_offset,
                                                       std::uint64_t bytes) noexcept {
        return {{bytes, {1, 1}}, {to_offset, {}}, {from_offset, {}}};
    }
};

}  // namespace volley::backends
