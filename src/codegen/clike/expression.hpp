// A C expression: its text, and the precedence and dependencies needed to embed it in a larger one.
#pragma once

#include "ir/function.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace volley::codegen::clike {

/// C's precedence levels, loosest first.
enum class Level : std::uint8_t {
    Choice,  // ?:
    LogicOr,
    LogicAnd,
    Or,
    Xor,
    And,
    Equal,
    Order,
    Shift,
    Sum,
    Product,
    Unary,  // includes casts
    Primary,
};

struct Expr {
    std::string text;
    Level level = Level::Primary;
    /// A name or literal whose value never changes; it may be repeated and moved freely.
    bool fixed = false;
    std::optional<std::uint64_t> bits;  // value of a literal
    /// Roots whose memory the text reads; the text must not move past a write to them.
    std::vector<ir::NodeId> reads;
    /// For signed integers: the same bits as an unsigned expression, if that is shorter than a cast.
    std::string plain;
    Level plain_level = Level::Primary;
};

[[nodiscard]] inline Expr named(std::string text) {
    Expr e;
    e.text = std::move(text);
    e.fixed = true;
    return e;
}

[[nodiscard]] inline Expr expr(std::string text, Level level = Level::Primary) {
    Expr e;
    e.text = std::move(text);
    e.level = level;
    return e;
}

/// Returns the text, parenthesised if it binds more loosely than `level`.
[[nodiscard]] inline std::string at_least(const Expr& e, Level level) {
    return e.level < level ? '(' + e.text + ')' : e.text;
}

/// Returns `a op b`. Operators whose precedence is easily confused get parentheses around compound operands.
[[nodiscard]] Expr binary(const Expr& a, std::string_view op, const Expr& b);
[[nodiscard]] Expr cast(std::string_view type, const Expr& e);
[[nodiscard]] Expr choice(const Expr& condition, const Expr& a, const Expr& b);
[[nodiscard]] Expr negation(const Expr& e);  // of a bool
void add_reads(Expr& to, const Expr& from);

}  // namespace volley::codegen::clike
