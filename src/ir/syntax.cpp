// The lexer. It does not depend on the locale, and throws IrError for every byte that it does not accept.
#include "ir/syntax.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/dtype.hpp>

#include <algorithm>
#include <iterator>

namespace volley::ir {
namespace {

constexpr std::string_view fence_scopes[] = {"all", "buffer", "shared", "group"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Returns the length of the number at the start of the text; it may have a sign at the start and after the e
// of an exponent.
std::size_t number_length(std::string_view text) {
    std::size_t n = text[0] == '-' ? 1 : 0;
    const bool hexadecimal = text.substr(n).starts_with("0x");
    for (; n < text.size(); ++n) {
        const char c = text[n];
        const bool exponent_sign =
            (c == '-' || c == '+') && n > 0 && !hexadecimal && (text[n - 1] == 'e' || text[n - 1] == 'E');
        if (!is_identifier_char(c) && !exponent_sign) break;
    }
    return n;
}

std::size_t word_length(std::string_view text) {
    std::size_t n = 0;
    while (n < text.size() && is_identifier_char(text[n])) ++n;
    return n;
}

// Returns the length of the string with its quotes; npos if the line or the text ends first.
std::size_t string_length(std::string_view text) {
    for (std::size_t n = 1; n < text.size() && text[n] != '\n'; ++n) {
        if (text[n] == '"') return n + 1;
        if (text[n] == '\\') ++n;
    }
    return std::string_view::npos;
}

}  // namespace

bool is_identifier_char(char c) noexcept { return is_letter(c) || is_digit(c) || c == '.'; }

bool is_identifier(std::string_view text) noexcept {
    return !text.empty() && is_letter(text[0]) && word_length(text) == text.size();
}

bool is_type_word(std::string_view text) noexcept {
    for (unsigned s = 0; s <= static_cast<unsigned>(ScalarType::F64); ++s) {
        if (text == name_of(static_cast<ScalarType>(s))) return true;
    }
    const bool vector = text.size() == 4 && text.starts_with("vec") && is_digit(text[3]);
    const bool matrix = text.size() == 6 && text.starts_with("mat") && is_digit(text[3]) && text[4] == 'x' &&
                        is_digit(text[5]);
    return vector || matrix || text == "complex" || text == "array" || text == "void";
}

bool is_plain_path(std::string_view text) noexcept {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == '"' || c == 0x7f) return false;
    }
    return !text.empty() && text.front() != ' ' && text.back() != ' ';
}

std::string_view fence_scope_text(std::uint64_t scope) noexcept {
    return scope < std::size(fence_scopes) ? fence_scopes[scope] : "?";
}

std::optional<FenceScope> fence_scope_from(std::string_view text) noexcept {
    for (std::size_t i = 0; i < std::size(fence_scopes); ++i) {
        if (text == fence_scopes[i]) return static_cast<FenceScope>(i);
    }
    return std::nullopt;
}

void fail_at(std::uint32_t line, std::uint32_t column, std::string_view what, std::string_view advice) {
    fail(ErrorCode::IrError, what, cat("IR text at ", line, ":", column), advice);
}

void Lexer::take(std::size_t count) noexcept {
    for (; count > 0; --count, ++at_) {
        if (text_[at_] == '\n') {
            ++line_;
            column_ = 1;
        } else {
            ++column_;
        }
    }
}

void Lexer::skip_blanks() {
    comment_ = {};
    while (at_ < text_.size()) {
        const char c = text_[at_];
        if (c == ';') {
            const std::size_t length = std::min(text_.find('\n', at_), text_.size()) - at_;
            if (line_ == token_line_) comment_ = trimmed(text_.substr(at_ + 1, length - 1));
            take(length);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            take(1);
        } else {
            return;
        }
    }
}

Token Lexer::next() {
    skip_blanks();
    Token token;
    token.line = line_;
    token.column = column_;
    token.comment = comment_;
    if (at_ == text_.size()) return token;

    const std::string_view rest = text_.substr(at_);
    const char c = rest[0];
    std::size_t length = 1;
    std::size_t skipped = 0;
    if (is_letter(c)) {
        token.kind = TokenKind::Word;
        length = word_length(rest);
    } else if (is_digit(c) || c == '-') {
        token.kind = TokenKind::Number;
        length = number_length(rest);
    } else if (c == '%') {
        token.kind = TokenKind::Value;
        length = 1 + word_length(rest.substr(1));
        skipped = 1;
        if (length == 1)
            fail_at(line_, column_, "'%' is not followed by a name", "write % and a number or name");
    } else if (c == '"') {
        token.kind = TokenKind::String;
        length = string_length(rest);
        if (length == std::string_view::npos) {
            fail_at(line_, column_, "a string is not terminated", "close it with a quote on the same line");
        }
    } else if (std::string_view("()[]{}<>,:=@").find(c) != std::string_view::npos) {
        token.kind = TokenKind::Mark;
    } else {
        fail_at(line_, column_, cat("an unexpected character (byte ", static_cast<unsigned char>(c), ")"),
                "remove it, or put it in a string");
    }
    token.text = rest.substr(skipped, length - skipped);
    take(length);
    token_line_ = line_;
    return token;
}

}  // namespace volley::ir
