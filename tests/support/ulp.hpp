// Distances between floats in units in the last place.
#pragma once

#include <volley/half.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace volley::testing {

namespace detail {

// Maps bits to integers so that neighbours differ by one; both zeros become 0.
template <class Bits>
[[nodiscard]] constexpr std::int64_t ordered(Bits bits) {
    constexpr int width = sizeof(Bits) * 8;
    constexpr Bits magnitude = static_cast<Bits>(~(Bits{1} << (width - 1)));
    const auto value = static_cast<std::int64_t>(bits & magnitude);
    return (bits >> (width - 1)) != 0 ? -value : value;
}

[[nodiscard]] inline double distance(std::int64_t a, std::int64_t b) {
    const bool same_sign = (a < 0) == (b < 0);
    const double sum = std::fabs(static_cast<double>(a)) + std::fabs(static_cast<double>(b));
    return same_sign ? static_cast<double>(a > b ? a - b : b - a) : sum;
}

}  // namespace detail

/// Returns the distance in representable values; 0 for two NaNs, infinite for a NaN and a number.
[[nodiscard]] inline double ulp_distance(float a, float b) {
    if (std::isnan(a) || std::isnan(b)) {
        return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<double>::infinity();
    }
    return detail::distance(detail::ordered(std::bit_cast<std::uint32_t>(a)),
                            detail::ordered(std::bit_cast<std::uint32_t>(b)));
}
[[nodiscard]] inline double ulp_distance(double a, double b) {
    if (std::isnan(a) || std::isnan(b)) {
        return std::isnan(a) && std::isnan(b) ? 0 : std::numeric_limits<double>::infinity();
    }
    return detail::distance(detail::ordered(std::bit_cast<std::uint64_t>(a)),
                            detail::ordered(std::bit_cast<std::uint64_t>(b)));
}
[[nodiscard]] inline double ulp_distance(half a, half b) {
    if (std::isnan(float(a)) || std::isnan(float(b))) {
        return std::isnan(float(a)) && std::isnan(float(b)) ? 0 : std::numeric_limits<double>::infinity();
    }
    return detail::distance(detail::ordered(a.bits()), detail::ordered(b.bits()));
}

}  // namespace volley::testing
