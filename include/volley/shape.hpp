// Shapes, strides and indices of up to 8 dimensions, row-major (the last index varies fastest), in 64 bits.
// Every product is checked: a size that does not fit is an Overflow error.
#pragma once

#include <volley/api.hpp>
#include <volley/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace volley {

/// The maximum number of dimensions.
inline constexpr int max_rank = 8;

namespace detail {

[[noreturn]] VOLLEY_API void fail_rank(std::size_t rank);
[[noreturn]] VOLLEY_API void fail_negative_extent(std::int64_t extent);
[[noreturn]] VOLLEY_API void fail_extent_overflow(std::uint64_t extent);

/// The common base of shapes, strides and indices: up to 8 64-bit integers, stored inline. Entries beyond the
/// rank are zero, so that memberwise comparison is correct.
template <class Derived>
class Axes {
public:
    constexpr Axes() noexcept = default;

    /// Returns the number of dimensions.
    [[nodiscard]] constexpr int rank() const noexcept { return rank_; }
    /// Requires 0 <= axis < rank(), which is not checked.
    [[nodiscard]] constexpr std::int64_t operator[](int axis) const noexcept {
        return values_[static_cast<std::size_t>(axis)];
    }
    [[nodiscard]] constexpr const std::int64_t* begin() const noexcept { return values_.data(); }
    [[nodiscard]] constexpr const std::int64_t* end() const noexcept { return values_.data() + rank_; }
    [[nodiscard]] constexpr std::span<const std::int64_t> span() const noexcept { return {begin(), end()}; }

    friend constexpr bool operator==(const Axes&, const Axes&) noexcept = default;

protected:
    constexpr void append(std::int64_t value) {
        if (rank_ == max_rank) fail_rank(static_cast<std::size_t>(max_rank) + 1);
        values_[static_cast<std::size_t>(rank_++)] = value;
    }
    constexpr void assign(int axis, std::int64_t value) noexcept {
        values_[static_cast<std::size_t>(axis)] = value;
    }

private:
    std::array<std::int64_t, max_rank> values_{};
    int rank_ = 0;
};

}  // namespace detail

/// Any integer type except bool.
template <class I>
concept ExtentInteger = std::integral<I> && !std::same_as<I, bool>;

/// One extent of a shape, from any integer type. It is checked when the shape is created, so that the error
/// can name the buffer.
class Extent {
public:
    // NOLINTNEXTLINE(google-explicit-constructor): extents are written as plain integers
    constexpr Extent(ExtentInteger auto value) noexcept
        : value_(static_cast<std::int64_t>(value)), too_large_(std::cmp_greater(value, INT64_MAX)) {}
    /// Throws ArgumentError if the extent is negative or does not fit in 63 bits.
    [[nodiscard]] constexpr std::int64_t value() const {
        if (too_large_) detail::fail_extent_overflow(static_cast<std::uint64_t>(value_));
        if (value_ < 0) detail::fail_negative_extent(value_);
        return value_;
    }

private:
    std::int64_t value_;
    bool too_large_;
};

/// The extents of an array: `Shape{3, 4}`, or `{3, 4}` or `12` where a Shape is expected. A shape of rank 0
/// has one element. Extents may be zero. The constructors throw ArgumentError for negative extents and ranks
/// above 8.
class Shape : public detail::Axes<Shape> {
public:
    constexpr Shape() noexcept = default;
    // NOLINTNEXTLINE(google-explicit-constructor): an integer is a one-dimensional shape
    constexpr Shape(ExtentInteger auto extent) { append(Extent(extent).value()); }
    constexpr Shape(std::initializer_list<Extent> extents) {
        if (extents.size() > static_cast<std::size_t>(max_rank)) detail::fail_rank(extents.size());
        for (const Extent extent : extents) append(extent.value());
    }
    constexpr explicit Shape(std::span<const std::int64_t> extents) {
        if (extents.size() > static_cast<std::size_t>(max_rank)) detail::fail_rank(extents.size());
        for (const std::int64_t extent : extents) append(Extent(extent).value());
    }

    /// Returns the number of elements. Throws ArgumentError (Overflow) if it does not fit in 63 bits.
    [[nodiscard]] VOLLEY_API std::int64_t elements() const;
    /// Returns the size in bytes of elements of the given size. Throws as elements() does.
    [[nodiscard]] VOLLEY_API std::int64_t bytes(std::int64_t element_size) const;
    /// Returns "(3, 4)".
    [[nodiscard]] VOLLEY_API std::string to_string() const;
};

/// The distance between neighbours along each axis, in elements or in bytes.
class Strides : public detail::Axes<Strides> {
public:
    constexpr Strides() noexcept = default;
    constexpr explicit Strides(std::span<const std::int64_t> strides) {
        for (const std::int64_t stride : strides) append(stride);
    }
    /// Converts strides in elements of the given size to bytes, and back. divided() rounds towards zero.
    [[nodiscard]] constexpr Strides times(std::size_t element) const {
        Strides result;
        for (const std::int64_t stride : *this) result.append(stride * static_cast<std::int64_t>(element));
        return result;
    }
    [[nodiscard]] constexpr Strides divided(std::size_t element) const {
        Strides result;
        for (const std::int64_t stride : *this) result.append(stride / static_cast<std::int64_t>(element));
        return result;
    }
    /// Returns "(16, 4)".
    [[nodiscard]] VOLLEY_API std::string to_string() const;
};

/// A position in an array, with one entry per axis.
class Index : public detail::Axes<Index> {
public:
    constexpr Index() noexcept = default;
    constexpr Index(std::initializer_list<std::int64_t> index) {
        for (const std::int64_t i : index) append(i);
    }
    constexpr explicit Index(std::span<const std::int64_t> index) {
        for (const std::int64_t i : index) append(i);
    }
    /// Returns "(2, 3)".
    [[nodiscard]] VOLLEY_API std::string to_string() const;
};

/// Return a * b and a + b of non-negative sizes. Throw ArgumentError (Overflow), which names `what`, if the
/// result does not fit in 63 bits.
[[nodiscard]] VOLLEY_API std::int64_t checked_multiply(std::int64_t a, std::int64_t b, std::string_view what);
[[nodiscard]] VOLLEY_API std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what);

/// Returns the strides in elements of an array that was allocated with the shape `padded`; for a dense array,
/// pass its shape.
[[nodiscard]] VOLLEY_API Strides row_major_strides(const Shape& padded);
/// Returns the same strides in bytes.
[[nodiscard]] VOLLEY_API Strides row_major_byte_strides(const Shape& padded, std::int64_t element_size);

/// Returns whether elements with these strides are contiguous in row-major order; `unit` is the stride of one
/// element. Length-1 axes are ignored. An empty array is dense.
[[nodiscard]] VOLLEY_API bool is_dense(const Shape& shape, const Strides& strides, std::int64_t unit = 1);

/// Throws ArgumentError (InvalidShape) if `padded` has another rank or a smaller extent.
VOLLEY_API void check_padding(const Shape& shape, const Shape& padded);

/// Returns the row-major position of an index. Throws ArgumentError (IndexError) outside the shape.
[[nodiscard]] VOLLEY_API std::int64_t ravel_index(const Index& index, const Shape& shape);
/// Returns the index at a row-major position. Throws ArgumentError (IndexError) unless
/// 0 <= linear < shape.elements().
[[nodiscard]] VOLLEY_API Index unravel_index(std::int64_t linear, const Shape& shape);

/// Returns the sum of index times stride over all axes. The ranks must agree.
[[nodiscard]] VOLLEY_API std::int64_t strided_offset(const Index& index, const Strides& strides);

}  // namespace volley
