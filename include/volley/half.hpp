// IEEE 754 binary16 on the host. A half occupies two bytes. Arithmetic is done in float and rounded once, so
// + - * / are correctly rounded (float has more than twice the precision of half).
#pragma once

#include <volley/api.hpp>

#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>

namespace volley {
namespace detail {

/// Rounds the bits of a binary32 or binary64 number to binary16: to nearest, ties to even. Keeps subnormals.
template <class Bits, int Mantissa, int Exponent>
[[nodiscard]] constexpr std::uint16_t round_to_half(Bits bits) noexcept {
    constexpr int bias = (1 << (Exponent - 1)) - 1;
    constexpr Bits exponent_mask = (Bits{1} << Exponent) - 1;
    constexpr Bits mantissa_mask = (Bits{1} << Mantissa) - 1;
    const auto sign = static_cast<unsigned>(bits >> (Mantissa + Exponent)) << 15;
    const Bits raw_exponent = (bits >> Mantissa) & exponent_mask;
    const Bits mantissa = bits & mantissa_mask;

    if (raw_exponent == exponent_mask) {
        // Infinity, or a NaN, which keeps its top payload bits and becomes quiet.
        const auto payload = static_cast<unsigned>(mantissa >> (Mantissa - 10));
        return static_cast<std::uint16_t>(sign | 0x7c00u | (mantissa != 0 ? 0x200u | payload : 0u));
    }
    const int exponent = static_cast<int>(raw_exponent) - bias;
    if (exponent > 15) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (exponent < -25) return static_cast<std::uint16_t>(sign);  // includes subnormals of the source type

    const bool subnormal = exponent < -14;
    const int shift = Mantissa - 10 + (subnormal ? -14 - exponent : 0);
    const Bits significand = subnormal ? mantissa | (Bits{1} << Mantissa) : mantissa;
    auto result = static_cast<unsigned>(significand >> shift);
    if (!subnormal) result |= static_cast<unsigned>(exponent + 15) << 10;
    const Bits remainder = significand & ((Bits{1} << shift) - 1);
    const Bits halfway = Bits{1} << (shift - 1);
    // A carry out of the significand increments the exponent, which is correct up to and including infinity.
    if (remainder > halfway || (remainder == halfway && (result & 1u) != 0)) ++result;
    return static_cast<std::uint16_t>(sign | result);
}

[[nodiscard]] constexpr std::uint16_t half_bits(float value) noexcept {
    return round_to_half<std::uint32_t, 23, 8>(std::bit_cast<std::uint32_t>(value));
}
[[nodiscard]] constexpr std::uint16_t half_bits(double value) noexcept {
    return round_to_half<std::uint64_t, 52, 11>(std::bit_cast<std::uint64_t>(value));
}

/// Converts binary16 to float exactly.
[[nodiscard]] constexpr float half_to_float(std::uint16_t bits) noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t exponent = (bits >> 10) & 0x1fu;
    std::uint32_t mantissa = bits & 0x3ffu;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
    if (mantissa == 0) return std::bit_cast<float>(sign);
    const int shift = std::countl_zero(mantissa) - 21;  // brings the leading one to bit 10
    mantissa = (mantissa << shift) & 0x3ffu;
    return std::bit_cast<float>(sign | (static_cast<std::uint32_t>(113 - shift) << 23) | (mantissa << 13));
}

}  // namespace detail

/// A 16-bit float. As with std::float16_t, widening to float is implicit and narrowing is explicit. The
/// default constructor leaves it uninitialised, and value-initialisation (half{}) is zero.
///
///     half h(0.1f);  float f = h * 2.0f;
class half {
public:
    half() = default;
    constexpr explicit half(float value) noexcept : bits_(detail::half_bits(value)) {}
    constexpr explicit half(double value) noexcept : bits_(detail::half_bits(value)) {}
    /// Rounds once: integers of up to 53 bits are exact as a double, and larger ones become infinity anyway.
    template <std::integral T>
    constexpr explicit half(T value) noexcept : bits_(detail::half_bits(static_cast<double>(value))) {}

    /// Returns the half with this binary16 encoding.
    [[nodiscard]] static constexpr half from_bits(std::uint16_t bits) noexcept {
        half result{};
        result.bits_ = bits;
        return result;
    }
    /// Returns the binary16 encoding.
    [[nodiscard]] constexpr std::uint16_t bits() const noexcept { return bits_; }

    // NOLINTNEXTLINE(google-explicit-constructor): widening is exact
    constexpr operator float() const noexcept { return detail::half_to_float(bits_); }

    [[nodiscard]] constexpr half operator-() const noexcept {
        return from_bits(static_cast<std::uint16_t>(bits_ ^ 0x8000u));
    }
    [[nodiscard]] constexpr half operator+() const noexcept { return *this; }

    friend constexpr half operator+(half a, half b) noexcept { return half(float(a) + float(b)); }
    friend constexpr half operator-(half a, half b) noexcept { return half(float(a) - float(b)); }
    friend constexpr half operator*(half a, half b) noexcept { return half(float(a) * float(b)); }
    friend constexpr half operator/(half a, half b) noexcept { return half(float(a) / float(b)); }
    constexpr half& operator+=(half b) noexcept { return *this = *this + b; }
    constexpr half& operator-=(half b) noexcept { return *this = *this - b; }
    constexpr half& operator*=(half b) noexcept { return *this = *this * b; }
    constexpr half& operator/=(half b) noexcept { return *this = *this / b; }

    friend constexpr bool operator==(half a, half b) noexcept { return float(a) == float(b); }
    friend constexpr std::partial_ordering operator<=>(half a, half b) noexcept {
        return float(a) <=> float(b);
    }

private:
    std::uint16_t bits_;
};

static_assert(sizeof(half) == 2);
static_assert(alignof(half) == 2);

}  // namespace volley

namespace std {

template <>
class numeric_limits<volley::half> {
    using half = volley::half;

public:
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = true;
    static constexpr bool is_integer = false;
    static constexpr bool is_exact = false;
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static constexpr bool has_signaling_NaN = true;
    static constexpr auto has_denorm = std::denorm_present;
    static constexpr bool has_denorm_loss = false;
    static constexpr auto round_style = std::round_to_nearest;
    static constexpr bool is_iec559 = true;
    static constexpr bool is_bounded = true;
    static constexpr bool is_modulo = false;
    static constexpr int digits = 11;
    static constexpr int digits10 = 3;
    static constexpr int max_digits10 = 5;
    static constexpr int radix = 2;
    static constexpr int min_exponent = -13;
    static constexpr int min_exponent10 = -4;
    static constexpr int max_exponent = 16;
    static constexpr int max_exponent10 = 4;
    static constexpr bool traps = false;
    static constexpr bool tinyness_before = false;

    static constexpr half min() noexcept { return half::from_bits(0x0400); }
    static constexpr half lowest() noexcept { return half::from_bits(0xfbff); }
    static constexpr half max() noexcept { return half::from_bits(0x7bff); }
    static constexpr half epsilon() noexcept { return half::from_bits(0x1400); }
    static constexpr half round_error() noexcept { return half::from_bits(0x3800); }
    static constexpr half infinity() noexcept { return half::from_bits(0x7c00); }
    static constexpr half quiet_NaN() noexcept { return half::from_bits(0x7e00); }
    static constexpr half signaling_NaN() noexcept { return half::from_bits(0x7d00); }
    static constexpr half denorm_min() noexcept { return half::from_bits(0x0001); }
};

}  // namespace std
