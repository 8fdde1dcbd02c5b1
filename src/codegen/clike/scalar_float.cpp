// Floats, halves and conversions. passes/expand_math.hpp has already expanded math functions.
#include "codegen/api/identity.hpp"
#include "codegen/clike/scalar_code.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::codegen::clike {

using ir::Op;

namespace {

std::string_view operator_of(Op op) {
    switch (op) {
        case Op::Add: return "+";
        case Op::Sub: return "-";
        case Op::Mul: return "*";
        case Op::Div: return "/";
        case Op::Eq: return "==";
        case Op::Ne: return "!=";
        case Op::Lt: return "<";
        case Op::Le: return "<=";
        case Op::Gt: return ">";
        case Op::Ge: return ">=";
        default: return {};
    }
}

Expr call(std::string_view f, const Expr& x) { return expr(cat(f, '(', x.text, ')')); }
Expr call(std::string_view f, const Expr& x, const Expr& y) {
    return expr(cat(f, '(', x.text, ", ", y.text, ')'));
}

}  // namespace

Expr ScalarCode::floating(Op op, ScalarType s, const Expr& x, const Expr& y, const Expr& z, bool loose) {
    switch (op) {
        case Op::Min:
        case Op::Max: return call(helpers_.floating(op, s), x, y);
        case Op::Sign:
        case Op::IsNan:
        case Op::IsInf: return call(helpers_.floating(op, s), x);
        case Op::Fma:
            if (loose && !features_.fused_fma)
                return floating(Op::Add, s, floating(Op::Mul, s, x, y, {}, false), z, {}, false);
            return expr(cat(d_.function(op, s), '(', x.text, ", ", y.text, ", ", z.text, ')'));
        default: break;
    }
    const std::string_view f = d_.function(op, s);
    if (f == "exact") {
        if (op == Op::Div) return call(helpers_.exact_quotient(features_.f64), x, y);
        if (op == Op::Sqrt) return call(helpers_.exact_root(features_.f64), x);
        return call(helpers_.floating(op, s), x);
    }
    if (op == Op::Neg) return expr(cat('-', at_least(x, Level::Primary)), Level::Unary);
    const std::string_view symbol = operator_of(op);
    if (!symbol.empty()) return f.empty() ? binary(x, symbol, y) : call(f, x, y);
    if (!f.empty()) return call(f, x);
    fail_internal(cat("no C for ", ir::mnemonic(op), " of floats"), site_.fn.name);
}

// Computes in f32 and rounds unless the result is known to be an f16.
Expr ScalarCode::half(Op op, const Expr& x, const Expr& y, const Expr& z, bool loose) {
    if (op == Op::Neg) return expr(cat(at_least(x, Level::Unary), " ^ 0x8000u"), Level::Xor);
    if (op == Op::Abs) return expr(cat(at_least(x, Level::Unary), " & 0x7fffu"), Level::And);
    const auto wide = [&](const Expr& e) {
        return e.text.empty() ? e : convert(ScalarType::F16, ScalarType::F32, e);
    };
    // A product of two f16 is exact in f32, so only the sum rounds.
    const Expr a = wide(x);
    const Expr b = wide(y);
    const Expr c = wide(z);
    Expr result;
    if (op == Op::Fma) {
        result = floating(Op::Add, ScalarType::F32, floating(Op::Mul, ScalarType::F32, a, b, {}, loose), c,
                          {}, loose);
    } else {
        result = floating(op, ScalarType::F32, a, b, {}, loose);
    }
    const ir::Form form = ir::form(op);
    if (form == ir::Form::Compare || form == ir::Form::Classify) return result;
    return convert(ScalarType::F32, ScalarType::F16, result);
}

Expr ScalarCode::convert(ScalarType from, ScalarType to, const Expr& x) {
    if (from == to) return x;
    if (from == ScalarType::F64 || to == ScalarType::F64) require_f64();
    Expr e;
    const auto through_f32 = [&] { return convert(ScalarType::F32, to, convert(from, ScalarType::F32, x)); };
    if (to == ScalarType::Bool) {
        if (from == ScalarType::F16) {
            e = binary(expr(cat(at_least(x, Level::Unary), " & 0x7fffu"), Level::And), "!=", expr("0"));
        } else {
            e = binary(x, "!=", literal(from, 0));
        }
    } else if (from == ScalarType::Bool) {
        const std::uint64_t one = codegen::identity_bits(Op::Mul, to);
        e = choice(x, literal(to, one), literal(to, 0));
    } else if (from == ScalarType::F16) {
        e = to == ScalarType::F32 ? call(helpers_.half_to_float(), x) : through_f32();
    } else if (to == ScalarType::F16) {
        if (from == ScalarType::F32) {
            e = call(helpers_.float_to_half(), x);
        } else if (from == ScalarType::F64) {
            e = call(helpers_.double_to_half(), x);
        } else {
            e = through_f32();  // values that f32 rounds exceed the largest f16
        }
    } else if (is_float(from) && !is_float(to)) {
        e = call(helpers_.float_to_integer(from, to), x);
    } else if (!is_float(from) && !is_float(to) && size_of(from) == size_of(to)) {
        if (is_signed_integer(to)) {
            e = from_unsigned(to, x);
        } else {
            e = without_sign(from, x);
        }
    } else {
        e = cast(d_.type(to), x);
    }
    add_reads(e, x);
    return e;
}

}  // namespace volley::codegen::clike
