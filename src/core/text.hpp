// Concatenates text: cat("buffer ", 3, " has ", 1.5), for error messages, logs and printed IR. Numbers are
// formatted by std::to_chars: independently of the locale, and floats as the shortest text that reads back
// exactly.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace volley {

inline void append(std::string& text, std::string_view piece) { text += piece; }
inline void append(std::string& text, char piece) { text += piece; }
// A template, so that pointers do not convert to bool.
template <std::same_as<bool> T>
void append(std::string& text, T piece) {
    text += piece ? "true" : "false";
}

template <class T>
concept Number = std::floating_point<T> ||
    (std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char>);

template <Number T>
void append(std::string& text, T number) {
    char digits[64];
    const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    text.append(digits, static_cast<std::size_t>(end - digits));
}

/// Concatenates strings, characters, bools and numbers.
template <class... Pieces>
[[nodiscard]] std::string cat(const Pieces&... pieces) {
    std::string text;
    (append(text, pieces), ...);
    return text;
}

/// Joins the elements of a range with a separator: join(names, ", ").
template <class Range>
[[nodiscard]] std::string join(const Range& range, std::string_view separator) {
    std::string text;
    bool first = true;
    for (const auto& element : range) {
        if (!first) text += separator;
        first = false;
        append(text, element);
    }
    return text;
}

/// Returns the low digits of the number in lower-case hexadecimal, padded with zeros.
[[nodiscard]] inline std::string hex(unsigned long long value, int digits = 16) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (int i = digits - 1; i >= 0; --i, value >>= 4) {
        text[static_cast<std::size_t>(i)] = "0123456789abcdef"[value & 0xf];
    }
    return text;
}

[[nodiscard]] constexpr std::string_view trimmed(std::string_view text) noexcept {
    constexpr std::string_view blanks = " \t\n\r";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace volley
