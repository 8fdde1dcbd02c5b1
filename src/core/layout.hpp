// Where the elements of an array, or of a part of one, lie in memory: selecting parts, asking whether two
// parts share bytes, and collapsing the axes of a transfer into as few and long rows as can be. Nothing here
// knows a device.
#pragma once

#include <volley/shape.hpp>
#include <volley/slice.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace volley {

/// The element at index i begins at byte offset + sum of i * strides. Strides of axes longer than 1 are
/// positive, and each is at least the extent in bytes of what lies inside of the axis, as it is in all that
/// row_major and select give (extent and overlap need it). Strides of axes of length 1 mean nothing.
struct Layout {
    std::int64_t offset = 0;  // in bytes
    Shape shape;
    Strides strides;  // in bytes

    friend bool operator==(const Layout&, const Layout&) = default;
};

/// An array that lies in memory as `padded`. Throws ArgumentError: InvalidShape unless `padded` covers the
/// shape, Overflow unless its bytes fit in 63 bits.
[[nodiscard]] Layout row_major(const Shape& shape, const Shape& padded, std::int64_t element);

/// The selected part. Throws what detail::select (volley/slice.hpp) throws; `subject` names the array in
/// messages.
[[nodiscard]] Layout select(const Layout& layout, const Selection& selection, std::string_view subject);

/// The bytes of all its elements, without what lies between them. Throws ArgumentError (Overflow).
[[nodiscard]] inline std::int64_t bytes_of(const Layout& layout, std::int64_t element) {
    return layout.shape.bytes(element);
}

/// Whether the elements lie one behind the other in row-major order.
[[nodiscard]] inline bool is_dense(const Layout& layout, std::int64_t element) {
    return is_dense(layout.shape, layout.strides, element);
}

/// The bytes from the first element's first to behind the last element's last; 0 when there are none. Throws
/// ArgumentError (Overflow).
[[nodiscard]] std::int64_t extent(const Layout& layout, std::int64_t element);

/// Whether any byte belongs to elements of both, exactly: columns of one array that interleave do not
/// overlap. Costs a few comparisons for parts of one array with the same steps; never more than in proportion
/// to the rows of both, which takes parts whose steps differ.
[[nodiscard]] bool overlap(const Layout& a, const Layout& b, std::int64_t element);

/// A transfer between two layouts of one shape, as rows of bytes that lie together in both. Row (i0, i1, ...)
/// begins at to_offset + sum of i * to_stride and from_offset + sum of i * from_stride. Rows are numbered
/// innermost first.
struct Rows {
    std::int64_t row = 0;  // bytes that lie together; 0 when there is nothing to transfer
    int rank = 0;          // how many of the counts are there; each of them is at least 2
    std::array<std::int64_t, max_rank> count = {1, 1, 1, 1, 1, 1, 1, 1};
    std::array<std::int64_t, max_rank> to_stride{};
    std::array<std::int64_t, max_rank> from_stride{};
    std::int64_t to_offset = 0;
    std::int64_t from_offset = 0;

    [[nodiscard]] bool empty() const noexcept { return row == 0; }
    /// Whether everything is one contiguous piece.
    [[nodiscard]] bool whole() const noexcept { return rank == 0 && row != 0; }
    /// How many rows, and how many bytes in them; neither can overflow if the layouts' bytes did not.
    [[nodiscard]] std::int64_t rows() const noexcept;
    [[nodiscard]] std::int64_t bytes() const noexcept { return row * rows(); }

    friend bool operator==(const Rows&, const Rows&) = default;
};

/// Axes of length 1 are left out, and neighbours merged where the strides of both layouts allow it. Throws
/// ArgumentError: SizeMismatch unless the shapes are the same, Overflow unless their bytes fit in 63 bits.
[[nodiscard]] Rows collapse(const Layout& to, const Layout& from, std::int64_t element);

/// The same for one layout alone, as fills need it: to and from are the same.
[[nodiscard]] Rows collapse(const Layout& layout, std::int64_t element);

}  // namespace volley
