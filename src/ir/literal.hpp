// Constants and strings as text, both ways and exact: what the printer writes, the parser reads back bit by
// bit.
#pragma once

#include <volley/dtype.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace volley::ir {

/// The bits that a constant of the type may have: the low bits_of(type), all ones.
[[nodiscard]] constexpr std::uint64_t mask_of(ScalarType type) noexcept {
    return ~std::uint64_t{0} >> (64 - bits_of(type));
}

/// "true", "-3", "0.1", "inf"; NaNs by their bits: "0x7fc00001".
[[nodiscard]] std::string constant_text(ScalarType type, std::uint64_t bits);

/// The bits that the text stands for in that type. Hexadecimal numbers are bits in every type. nullopt when
/// the text is no number, or does not fit the type.
[[nodiscard]] std::optional<std::uint64_t> constant_bits(ScalarType type, std::string_view text);

/// In double quotes, with \" \\ \n \t \r and \xNN for what would not be seen.
[[nodiscard]] std::string quote(std::string_view text);

/// The inverse, of a text with its quotes; nullopt when it is not well formed.
[[nodiscard]] std::optional<std::string> unquote(std::string_view text);

}  // namespace volley::ir
