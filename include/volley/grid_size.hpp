// The size of a launch or of a workgroup: one to three numbers, written `100` or `{64, 64}`.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>

namespace volley {

namespace detail {

/// One number of a grid size, from any integer type. Values that no grid can have are kept as they are (too
/// big ones as the biggest) and refused by the launch.
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

/// `over(100)`, `over({640, 480})`. Missing numbers are 1. More than three are refused by the launch.
class GridSize {
public:
    constexpr GridSize() noexcept = default;  ///< not given
    // NOLINTNEXTLINE(google-explicit-constructor): a number is a one-dimensional size
    constexpr GridSize(std::integral auto x) : GridSize({detail::GridExtent(x)}) {}
    constexpr GridSize(std::initializer_list<detail::GridExtent> sizes) noexcept
        : rank_(static_cast<std::uint8_t>(sizes.size() < 255 ? sizes.size() : 255)) {
        std::size_t d = 0;
        for (const detail::GridExtent size : sizes) {
            if (d < 3) sizes_[d++] = size.value();
        }
    }

    [[nodiscard]] constexpr int rank() const noexcept { return rank_; }  ///< how many were given; 0: none
    [[nodiscard]] constexpr std::int64_t operator[](int d) const noexcept {
        return sizes_[static_cast<std::size_t>(d)];
    }
    friend constexpr bool operator==(const GridSize&, const GridSize&) noexcept = default;

private:
    std::array<std::int64_t, 3> sizes_{1, 1, 1};
    std::uint8_t rank_ = 0;
};

}  // namespace volley
