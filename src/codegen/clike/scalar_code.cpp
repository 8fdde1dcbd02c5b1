// Literals, integers and bools.
#include "codegen/clike/scalar_code.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <array>
#include <bit>
#include <charconv>

namespace volley::codegen::clike {

using ir::Op;

ScalarType ScalarCode::unsigned_of(ScalarType s) {
    switch (size_of(s)) {
        case 1: return ScalarType::U8;
        case 2: return ScalarType::U16;
        case 4: return ScalarType::U32;
        default: return ScalarType::U64;
    }
}

ScalarType ScalarCode::kept_as(ScalarType s) const {
    if (s == ScalarType::F16) return ScalarType::U16;
    if (s == ScalarType::F64 && !features_.f64) return ScalarType::U64;
    return s;
}

namespace {

template <class T>
std::string decimal(T value) {
    std::array<char, 64> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    std::string text(digits.data(), end);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

}  // namespace

Expr ScalarCode::literal(ScalarType s, std::uint64_t bits) const {
    Expr e;
    const ScalarType kept = kept_as(s);
    const bool sign = is_signed_integer(kept);
    const std::string u64(d_.suffix64(true));
    if (kept == ScalarType::Bool) {
        e.text = bits != 0 ? "true" : "false";
    } else if (s == ScalarType::F16 || (s == ScalarType::F64 && kept == ScalarType::U64)) {
        e.text = cat("0x", hex(bits, s == ScalarType::F16 ? 4 : 16), s == ScalarType::F16 ? "u" : u64);
    } else if (kept == ScalarType::F32 || kept == ScalarType::F64) {
        const bool single = kept == ScalarType::F32;
        const std::uint64_t magnitude = single ? bits & 0x7fffffffu : bits & 0x7fffffffffffffffu;
        const std::uint64_t infinite = single ? 0x7f800000u : 0x7ff0000000000000u;
        const bool negative = magnitude != bits;
        if (magnitude > infinite) {
            e.text = single ? d_.reinterpret(kept, ScalarType::U32, cat("0x", hex(bits, 8), "u"))
                            : d_.reinterpret(kept, ScalarType::U64, cat("0x", hex(bits, 16), u64));
        } else {
            std::string text =
                magnitude == infinite ? std::string(d_.infinity(kept))
                : single ? decimal(std::bit_cast<float>(static_cast<std::uint32_t>(magnitude))) + "f"
                         : decimal(std::bit_cast<double>(magnitude));
            e.text = negative ? "-" + text : std::move(text);
            if (negative) e.level = Level::Unary;
        }
    } else {
        const unsigned width = bits_of(kept);
        const std::uint64_t ones = ~std::uint64_t{0} >> (64 - width);
        bits &= ones;
        const std::string_view unsigned_suffix = width == 64 ? std::string_view(u64) : width == 32 ? "u" : "";
        if (!sign) {
            e.text = cat(bits, unsigned_suffix);
        } else {
            const std::string_view suffix = width == 64 ? d_.suffix64(false) : std::string_view();
            const std::uint64_t highest = ones >> 1;
            e.plain = cat(bits, unsigned_suffix);
            if (bits <= highest) {
                e.text = cat(bits, suffix);
            } else if (bits == highest + 1) {
                e.text = cat("(-", highest, suffix, " - 1)");
            } else {
                e.text = cat("-", (~bits & ones) + 1, suffix);
                e.level = Level::Unary;
            }
        }
    }
    e.bits = bits;
    e.fixed = true;
    return e;
}

void ScalarCode::require_f64() {
    if (!features_.f64)
        site_.refuse("64-bit floats (f64)", "use float, or run the kernel on a device that has f64");
}

Expr ScalarCode::without_sign(ScalarType s, const Expr& x) const {
    if (!is_signed_integer(s)) return x;
    if (!x.plain.empty()) return expr(x.plain, x.plain_level);
    return cast(d_.type(unsigned_of(s)), x);
}

Expr ScalarCode::from_unsigned(ScalarType s, const Expr& x) const {
    if (!is_signed_integer(s)) return x;
    Expr e = cast(d_.type(s), x);
    e.plain = x.text;
    e.plain_level = x.level;
    return e;
}

Expr ScalarCode::apply(Op op, ScalarType s, const Expr& x, const Expr& y, const Expr& z, bool loose) {
    Expr e;
    if (s == ScalarType::Bool) {
        e = boolean(op, x, y);
    } else if (s == ScalarType::F16) {
        e = half(op, x, y, z, loose);
    } else if (is_float(s)) {
        if (s == ScalarType::F64) require_f64();
        e = floating(op, s, x, y, z, loose);
    } else {
        e = integer(op, s, x, y, z);
    }
    for (const Expr* operand : {&x, &y, &z}) add_reads(e, *operand);
    return e;
}

Expr ScalarCode::boolean(Op op, const Expr& x, const Expr& y) const {
    switch (op) {
        case Op::And: return binary(x, "&&", y);
        case Op::Or: return binary(x, "||", y);
        case Op::Xor:
        case Op::Ne:
            return expr(cat(at_least(x, Level::Unary), " != ", at_least(y, Level::Unary)), Level::Equal);
        case Op::Eq:
            return expr(cat(at_least(x, Level::Unary), " == ", at_least(y, Level::Unary)), Level::Equal);
        case Op::Not: return negation(x);
        default: fail_internal(cat("no C for ", ir::mnemonic(op), " of bool"), site_.fn.name);
    }
}

// C promotes narrow operands to int, which only a product of two u16 can overflow.
Expr ScalarCode::wrapping(std::string_view op, ScalarType s, const Expr& x, const Expr& y) const {
    if (size_of(s) < 4) {
        if (op == "*") return cast(d_.type(s), binary(cast(d_.type(ScalarType::U32), x), op, y));
        return cast(d_.type(s), binary(x, op, y));
    }
    return from_unsigned(s, binary(without_sign(s, x), op, without_sign(s, y)));
}

Expr ScalarCode::shift(Op op, ScalarType s, const Expr& x, const Expr& y) const {
    const unsigned width = bits_of(s);
    const Expr amount = y.bits ? expr(cat(*y.bits % width))
                               : expr(cat(at_least(y, Level::Unary), " & ", width - 1), Level::And);
    if (op == Op::Shr) return binary(x, ">>", amount);
    if (size_of(s) < 4) return cast(d_.type(s), binary(cast(d_.type(ScalarType::U32), x), "<<", amount));
    return from_unsigned(s, binary(without_sign(s, x), "<<", amount));
}

Expr ScalarCode::integer(Op op, ScalarType s, const Expr& x, const Expr& y, const Expr& z) {
    const auto call1 = [&](const std::string& f) { return expr(cat(f, '(', x.text, ')')); };
    const auto call2 = [&](const std::string& f) { return expr(cat(f, '(', x.text, ", ", y.text, ')')); };
    switch (op) {
        case Op::Neg:
            if (size_of(s) < 4)
                return cast(d_.type(s), expr(cat('-', at_least(x, Level::Primary)), Level::Unary));
            return from_unsigned(s, binary(literal(unsigned_of(s), 0), "-", without_sign(s, x)));
        case Op::Add:
        case Op::Sub: {
            // Writes x + -1 as x - 1.
            const std::uint64_t sign = std::uint64_t{1} << (bits_of(s) - 1);
            if (is_signed_integer(s) && y.bits && (*y.bits & sign) != 0 && *y.bits != sign) {
                const Expr opposite = literal(s, 0 - *y.bits);
                return wrapping(op == Op::Add ? "-" : "+", s, x, opposite);
            }
            return wrapping(op == Op::Add ? "+" : "-", s, x, y);
        }
        case Op::Mul: return wrapping("*", s, x, y);
        case Op::Fma: return wrapping("+", s, wrapping("*", s, x, y), z);
        case Op::Div:
        case Op::Rem: {
            const std::uint64_t ones = ~std::uint64_t{0} >> (64 - bits_of(s));
            const bool plain = y.bits && *y.bits != 0 && !(is_signed_integer(s) && *y.bits == ones);
            if (plain) return binary(x, op == Op::Div ? "/" : "%", y);
            return call2(helpers_.integer(op, s));
        }
        case Op::Min:
        case Op::Max: return call2(helpers_.integer(op, s));
        case Op::Abs: return is_signed_integer(s) ? call1(helpers_.integer(op, s)) : x;
        case Op::Sign:
        case Op::PopCount:
        case Op::Clz:
        case Op::Ctz:
        case Op::ReverseBits: return call1(helpers_.integer(op, s));
        case Op::And: return binary(x, "&", y);
        case Op::Or: return binary(x, "|", y);
        case Op::Xor: return binary(x, "^", y);
        case Op::Not: {
            const Expr flipped = expr(cat('~', at_least(x, Level::Unary)), Level::Unary);
            return size_of(s) < 4 ? cast(d_.type(s), flipped) : flipped;
        }
        case Op::Shl:
        case Op::Shr: return shift(op, s, x, y);
        case Op::Eq: return compared("==", x, y);
        case Op::Ne: return compared("!=", x, y);
        case Op::Lt: return compared("<", x, y);
        case Op::Le: return compared("<=", x, y);
        case Op::Gt: return compared(">", x, y);
        case Op::Ge: return compared(">=", x, y);
        default: fail_internal(cat("no C for ", ir::mnemonic(op), " of integers"), site_.fn.name);
    }
}

Expr ScalarCode::to_bits(ScalarType s, const Expr& x) const {
    Expr e;
    const ScalarType kept = kept_as(s);
    if (s == ScalarType::Bool) {
        e = cast(d_.type(ScalarType::U8), x);
    } else if (is_float(kept)) {
        e = expr(d_.reinterpret(unsigned_of(kept), kept, x.text));
    } else if (is_signed_integer(kept)) {
        e = without_sign(kept, x);
    } else {
        return x;
    }
    add_reads(e, x);
    return e;
}

Expr ScalarCode::from_bits(ScalarType s, const Expr& x) const {
    Expr e;
    const ScalarType kept = kept_as(s);
    if (s == ScalarType::Bool) {
        e = binary(x, "!=", expr("0"));
    } else if (is_float(kept)) {
        e = expr(d_.reinterpret(kept, unsigned_of(kept), x.text));
    } else if (is_signed_integer(kept)) {
        e = from_unsigned(kept, x);
    } else {
        return x;
    }
    add_reads(e, x);
    return e;
}

}  // namespace volley::codegen::clike
