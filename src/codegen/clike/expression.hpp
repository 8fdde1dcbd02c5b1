// A piece of C: an expression's text with what is needed to put it into a larger one.
#pragma once

#include "ir/function.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace volley::codegen::clike {

/// C's levels of precedence, loosest first.
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
    Unary,  // casts too
    Primary,
};

struct Expr {
    std::string text;
    Level level = Level::Primary;
    /// A name or literal that nothing changes: it may be written anywhere and any number of times.
    bool fixed = false;
    std::optional<std::uint64_t> bits;  // of a literal
    /// Roots whose memory the text reads: it must not move behind a write to them.
    std::vector<ir::NodeId> reads;
    /// For signed integers: the same bits as an unsigned expression, where that is shorter than a cast.
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

/// The text, in parentheses where it binds less than asked.
[[nodiscard]] inline std::string at_least(const Expr& e, Level level) {
    return e.level < level ? '(' + e.text + ')' : e.text;
}

/// a op b. Operators that people mix up get parentheses around operands that are no plain terms.
[[nodiscard]] Expr binary(const Expr& a, std::string_view op, const Expr& b);
[[nodiscard]] Expr cast(std::string_view type, const Expr& e);
[[nodiscard]] Expr choice(const Expr& condition, const Expr& a, const Expr& b);
[[nodiscard]] Expr negation(const Expr& e);  // of a bool
void add_reads(Expr& to, const Expr& from);

}  // namespace volley::codegen::clike
