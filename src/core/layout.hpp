// The memory layout of an array or of a part of one: selects parts, tests whether two parts overlap, and
// collapses the axes of a transfer into the fewest, longest rows. Independent of devices.
#pragma once

#include <volley/shape.hpp>
#include <volley/slice.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace volley {

/// The element at index i begins at byte offset + sum of i * strides. The stride of an axis longer than 1 is
/// positive and at least the extent in bytes of the inner axes; row_major and select guarantee it, and extent
/// and overlap rely on it. Strides of length-1 axes are ignored.
struct Layout {
    std::int64_t offset = 0;  // in bytes
    Shape shape;
    Strides strides;  // in bytes

    friend bool operator==(const Layout&, const Layout&) = default;
};

/// Returns the layout of an array of `shape` stored in row-major order with the extents `padded`. Throws
/// ArgumentError: InvalidShape unless `padded` covers the shape, Overflow unless its bytes fit in 63 bits.
[[nodiscard]] Layout row_major(const Shape& shape, const Shape& padded, std::int64_t element);

/// Returns the layout of the selected part. Throws what detail::select (volley/slice.hpp) throws; `subject`
/// names the array in error messages.
[[nodiscard]] Layout select(const Layout& layout, const Selection& selection, std::string_view subject);

/// Returns the size in bytes of all elements, without the gaps between them. Throws ArgumentError (Overflow).
[[nodiscard]] inline std::int64_t bytes_of(const Layout& layout, std::int64_t element) {
    return layout.shape.bytes(element);
}

/// Returns whether the elements are contiguous in row-major order.
[[nodiscard]] inline bool is_dense(const Layout& layout, std::int64_t element) {
    return is_dense(layout.shape, layout.strides, element);
}

/// Returns the bytes from the start of the first element to the end of the last; 0 for an empty layout.
/// Throws ArgumentError (Overflow).
[[nodiscard]] std::int64_t extent(const Layout& layout, std::int64_t element);

/// Returns whether any byte belongs to elements of both layouts. The test is exact: interleaved columns of
/// one array do not overlap. Costs a few comparisons for parts of one array with equal steps, and at most
/// time proportional to the rows of both layouts if their steps differ.
[[nodiscard]] bool overlap(const Layout& a, const Layout& b, std::int64_t element);

/// A transfer between two layouts of one shape, as rows of bytes that are contiguous in both. Row (i0, i1,
/// ...) begins at to_offset + sum of i * to_stride and from_offset + sum of i * from_stride. Counts and
/// strides are ordered innermost first.
struct Rows {
    std::int64_t row = 0;  // contiguous bytes; 0 if there is nothing to transfer
    int rank = 0;          // the number of counts in use; each is at least 2
    std::array<std::int64_t, max_rank> count = {1, 1, 1, 1, 1, 1, 1, 1};
    std::array<std::int64_t, max_rank> to_stride{};
    std::array<std::int64_t, max_rank> from_stride{};
    std::int64_t to_offset = 0;
    std::int64_t from_offset = 0;

    [[nodiscard]] bool empty() const noexcept { return row == 0; }
    /// Returns whether everything is one contiguous piece.
    [[nodiscard]] bool whole() const noexcept { return rank == 0 && row != 0; }
    /// Return the number of rows and their total bytes. Neither overflows if the layouts' sizes do not.
    [[nodiscard]] std::int64_t rows() const noexcept;
    [[nodiscard]] std::int64_t bytes() const noexcept { return row * rows(); }

    friend bool operator==(const Rows&, const Rows&) = default;
};

/// Drops length-1 axes and merges adjacent axes if the strides of both layouts allow it. Throws
/// ArgumentError: SizeMismatch unless the shapes are equal, Overflow unless their bytes fit in 63 bits.
[[nodiscard]] Rows collapse(const Layout& to, const Layout& from, std::int64_t element);

/// Collapses a single layout, for fills: to and from are equal.
[[nodiscard]] Rows collapse(const Layout& layout, std::int64_t element);

}  // namespace volley
