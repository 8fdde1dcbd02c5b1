// Operators and parentheses.
#include "codegen/clike/expression.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace volley::codegen::clike {
namespace {

Level level_of(std::string_view op) {
    constexpr std::pair<std::string_view, Level> levels[] = {
        {"||", Level::LogicOr}, {"&&", Level::LogicAnd}, {"|", Level::Or},     {"^", Level::Xor},
        {"&", Level::And},      {"==", Level::Equal},    {"!=", Level::Equal}, {"<", Level::Order},
        {"<=", Level::Order},   {">", Level::Order},     {">=", Level::Order}, {"<<", Level::Shift},
        {">>", Level::Shift},   {"+", Level::Sum},       {"-", Level::Sum},    {"*", Level::Product},
        {"/", Level::Product},  {"%", Level::Product}};
    for (const auto& [text, level] : levels) {
        if (text == op) return level;
    }
    fail_internal("not a C operator", op);
}

Level next(Level level) { return static_cast<Level>(static_cast<unsigned>(level) + 1); }

}  // namespace

Expr binary(const Expr& a, std::string_view op, const Expr& b) {
    const Level level = level_of(op);
    Level left = level;
    Level right = next(level);
    switch (level) {
        case Level::LogicOr:
        case Level::LogicAnd: left = right = Level::Equal; break;
        case Level::Equal:
        case Level::Order: left = right = Level::Sum; break;
        case Level::Or:
        case Level::Xor:
        case Level::And:
        case Level::Shift: left = right = Level::Unary; break;
        default: break;
    }
    return expr(cat(at_least(a, left), ' ', op, ' ', at_least(b, right)), level);
}

Expr cast(std::string_view type, const Expr& e) {
    return expr(cat('(', type, ')', at_least(e, Level::Unary)), Level::Unary);
}

Expr choice(const Expr& condition, const Expr& a, const Expr& b) {
    return expr(cat(at_least(condition, Level::LogicOr), " ? ", at_least(a, Level::LogicOr), " : ",
                    at_least(b, Level::LogicOr)),
                Level::Choice);
}

Expr negation(const Expr& e) { return expr(cat('!', at_least(e, Level::Unary)), Level::Unary); }

void add_reads(Expr& to, const Expr& from) {
    for (const ir::NodeId root : from.reads) {
        if (std::find(to.reads.begin(), to.reads.end(), root) == to.reads.end()) to.reads.push_back(root);
    }
}

}  // namespace volley::codegen::clike
