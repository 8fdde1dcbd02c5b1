// Converts constants and strings to text and back exactly: the parser restores every bit that the printer
// wrote.
#pragma once

#include <volley/dtype.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace volley::ir {

/// Returns a mask of the bits that a constant of the type may have: the low bits_of(type) bits.
[[nodiscard]] constexpr std::uint64_t mask_of(ScalarType type) noexcept {
    return ~std::uint64_t{0} >> (64 - bits_of(type));
}

/// Returns the text of a constant: "true", "-3", "0.1", "inf"; NaNs as their bits: "0x7fc00001".
[[nodiscard]] std::string constant_text(ScalarType type, std::uint64_t bits);

/// Returns the bits of the constant in that type. Hexadecimal numbers are raw bits in every type. Returns
/// nullopt if the text is not a number or does not fit the type.
[[nodiscard]] std::optional<std::uint64_t> constant_bits(ScalarType type, std::string_view text);

/// Returns the text in double quotes, with \" \\ \n \t \r and \xNN for unprintable bytes.
[[nodiscard]] std::string quote(std::string_view text);

/// Inverts quote(); the text includes its quotes. Returns nullopt if it is malformed.
[[nodiscard]] std::optional<std::string> unquote(std::string_view text);

}  // namespace volley::ir
