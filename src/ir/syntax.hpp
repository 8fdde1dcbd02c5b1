// The lexer, and the lexical rules that the printer and the parser share. Section 11 of docs/ir.md is the
// grammar.
#pragma once

#include <volley/ir/op.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace volley::ir {

[[nodiscard]] bool is_identifier_char(char c) noexcept;  // letters, digits, _ and .
[[nodiscard]] bool is_identifier(
    std::string_view text) noexcept;  // the same, but does not start with a digit or a dot
[[nodiscard]] bool is_type_word(std::string_view text) noexcept;   // names or starts a built-in type
[[nodiscard]] bool is_plain_path(std::string_view text) noexcept;  // needs no quotes in a comment
[[nodiscard]] std::string_view fence_scope_text(std::uint64_t scope) noexcept;
[[nodiscard]] std::optional<FenceScope> fence_scope_from(std::string_view text) noexcept;

enum class TokenKind : std::uint8_t {
    Word,    // kernel, add, vec3
    Value,   // %12; the text excludes the %
    Number,  // 12, -1.5e-7, 0x7fc00001
    String,  // with its quotes; the escapes are not checked
    Mark,    // one of ( ) [ ] { } < > , : = @
    End,
};

struct Token {
    TokenKind kind = TokenKind::End;
    std::string_view text;
    std::uint32_t line = 1;
    std::uint32_t column = 1;
    /// The comment at the end of the previous token's line, trimmed; empty if there is none.
    std::string_view comment;
};

/// Splits a text into tokens, one at a time. Tokens are views into the text. Throws IrError with line and
/// column.
class Lexer {
public:
    explicit Lexer(std::string_view text) noexcept : text_(text) {}
    [[nodiscard]] Token next();

private:
    void skip_blanks();
    void take(std::size_t count) noexcept;

    std::string_view text_;
    std::size_t at_ = 0;
    std::uint32_t line_ = 1;
    std::uint32_t column_ = 1;
    std::uint32_t token_line_ = 0;  // of the last token
    std::string_view comment_;
};

/// Throws an IrError for a position in a text.
[[noreturn]] void fail_at(std::uint32_t line, std::uint32_t column, std::string_view what,
                          std::string_view advice);

}  // namespace volley::ir
