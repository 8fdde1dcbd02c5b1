// The size of a launch or of a workgroup: one to three numbers, written `100` or `{64, 64}`.
#pragma once

#include <volley/shape.hpp>

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

namespace volley {

namespace detail {

/// One extent of a grid size, from any integer type. Invalid values are kept, clamped to 63 bits, and refused
/// by the launch.
class GridExtent {
public:
    // NOLINTBEGIN(google-explicit-constructor): sizes are written as plain integers
    template <std::integral I>
    requires(!std::same_as<I, bool>) constexpr GridExtent(I value)
        : value_(std::cmp_greater(value, std::numeric_limits<std::int64_t>::max())
                     ? std::numeric_limits<std::int64_t>::max()
                     : static_cast<std::int64_t>(value)) {}
    // NOLINTEND(google-explicit-constructor)
    [[nodiscard]] constexpr std::int64_t value() const noexcept { return value_; }

private:
    std::int64_t value_;
};

}  // namespace detail

/// `over(100)`, `over({640, 480})`, `over(buf.shape())`. Missing numbers are 1. A launch refuses more than
/// three.
class GridSize {
public:
    constexpr GridSize() noexcept = default;  ///< not set
    // NOLINTNEXTLINE(google-explicit-constructor): a number is a one-dimensional size
    constexpr GridSize(std::integral auto x) : GridSize({detail::GridExtent(x)}) {}
    /// Covers an array: x runs along the last axis, y along the one before it, and z along the third from the
    /// end. Axes before these are merged into z.
    template <std::same_as<Shape> S>
    constexpr GridSize(const S& shape) noexcept  // NOLINT(google-explicit-constructor): a shape is a size
        : rank_(static_cast<std::uint8_t>(shape.rank() < 1   ? 1
                                          : shape.rank() > 3 ? 3
                                                             : shape.rank())) {
        for (int axis = shape.rank(), d = 0; axis-- > 0; ++d) {
            std::int64_t& size = sizes_[static_cast<std::size_t>(d < 2 ? d : 2)];
            // A product that overflows is refused by the launch, as the largest size is.
            constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
            size = shape[axis] != 0 && size > most / shape[axis] ? most : size * shape[axis];
        }
    }
    constexpr GridSize(std::initializer_list<detail::GridExtent> sizes) noexcept
        : rank_(static_cast<std::uint8_t>(sizes.size() < 255 ? sizes.size() : 255)) {
        std::size_t d = 0;
        for (const detail::GridExtent size : sizes) {
            if (d < 3) sizes_[d++] = size.value();
        }
    }

    /// Returns the number of dimensions that were set; 0: none.
    [[nodiscard]] constexpr int rank() const noexcept { return rank_; }
    [[nodiscard]] constexpr std::int64_t operator[](int d) const noexcept {
        return sizes_[static_cast<std::size_t>(d)];
    }
    friend constexpr bool operator==(const GridSize&, const GridSize&) noexcept = default;

private:
    std::array<std::int64_t, 3> sizes_{1, 1, 1};
    std::uint8_t rank_ = 0;
};

}  // namespace volley
