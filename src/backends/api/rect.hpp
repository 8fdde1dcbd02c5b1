// Rows of bytes that lie apart in memory: what is left of an array's region when its axes are collapsed.
#pragma once

#include <array>
#include <cstdint>

namespace volley::backends {

/// How much: planes of rows of bytes. None of the numbers is 0.
struct Rect {
    std::uint64_t row = 0;                        // bytes that lie together
    std::array<std::uint64_t, 2> count = {1, 1};  // rows in a plane, planes
    [[nodiscard]] std::uint64_t rows() const noexcept { return count[0] * count[1]; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return row * rows(); }
};

/// Where. Rows do not overlap: a row's stride is at least the row, a plane's at least its rows. A stride
/// whose count is 1 means nothing. Strides need not be multiples of each other.
struct RectPlace {
    std::uint64_t offset = 0;               // of the first byte
    std::array<std::uint64_t, 2> stride{};  // bytes from row to row, from plane to plane
};

}  // namespace volley::backends
