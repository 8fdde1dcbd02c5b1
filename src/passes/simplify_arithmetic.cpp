// The identities of arithmetic, logic and comparison that fold_constants applies. Each is exact: floats
// preserve signed zeros, infinities and NaN, and integers wrap.
#include "passes/eval.hpp"
#include "passes/simplify.hpp"

#include <bit>
#include <cmath>

namespace volley::passes {

using ir::NodeId;
using ir::Op;

namespace {

// Returns the comparison with exchanged operands.
Op mirrored(Op op) {
    switch (op) {
        case Op::Lt: return Op::Gt;
        case Op::Gt: return Op::Lt;
        case Op::Le: return Op::Ge;
        case Op::Ge: return Op::Le;
        default: return op;
    }
}

// Returns the negated comparison; because of NaN, only eq and ne have one for floats.
Op opposite(Op op) {
    switch (op) {
        case Op::Eq: return Op::Ne;
        case Op::Ne: return Op::Eq;
        case Op::Lt: return Op::Ge;
        case Op::Ge: return Op::Lt;
        case Op::Gt: return Op::Le;
        case Op::Le: return Op::Gt;
        default: return op;
    }
}

struct FloatBits {
    std::uint64_t one;
    std::uint64_t sign;
    int mantissa;
    std::uint64_t exponent_mask;  // after the mantissa is shifted out

    explicit FloatBits(ScalarType type) {
        mantissa = type == ScalarType::F16 ? 10 : type == ScalarType::F32 ? 23 : 52;
        sign = (mask_of(type) >> 1) + 1;
        exponent_mask = (sign - 1) >> mantissa;
        one = (exponent_mask >> 1) << mantissa;
    }

    // Returns the bits of 1 / x if x is a power of two, and x and its reciprocal are normal.
    [[nodiscard]] std::optional<std::uint64_t> reciprocal(std::uint64_t x) const {
        const std::uint64_t exponent = (x >> mantissa) & exponent_mask;
        const bool power_of_two = (x & ((std::uint64_t{1} << mantissa) - 1)) == 0;
        const std::uint64_t bias = exponent_mask >> 1;
        if (!power_of_two || exponent == 0 || exponent >= 2 * bias) return std::nullopt;
        return (x & sign) | ((2 * bias - exponent) << mantissa);
    }
};

}  // namespace

NodeId Simplifier::common_identities(NodeId id) {
    const ir::Node node = fn_[id];
    const NodeId a = fn_.arg(id, 0);
    if (node.count == 1) {
        switch (node.op) {
            case Op::Neg:
            case Op::Not:
                if (is_op(a, node.op)) return fn_.arg(a, 0);
                break;
            case Op::Abs:
                if (is_op(a, Op::Abs) || fn_.type(id).is_unsigned()) return a;
                if (is_op(a, Op::Neg)) return become(id, Op::Abs, {fn_.arg(a, 0)});
                break;
            case Op::Floor:
            case Op::Ceil:
            case Op::Trunc:
            case Op::Round:
            case Op::RoundEven:
                if (is_op(a, Op::Floor) || is_op(a, Op::Ceil) || is_op(a, Op::Trunc) || is_op(a, Op::Round) ||
                    is_op(a, Op::RoundEven)) {
                    return a;
                }
                break;
            default: break;
        }
        return id;
    }
    const NodeId b = fn_.arg(id, 1);
    // Moves constants to the right, so that the other rules check only one operand.
    const bool swappable = (node.count == 2 && ir::is_commutative(node.op)) || mirrored(node.op) != node.op;
    if (swappable && splat(a) && !splat(b)) return become(id, mirrored(node.op), {b, a});
    if (a == b) {
        switch (node.op) {
            case Op::Min:
            case Op::Max:
            case Op::And:
            case Op::Or: return a;
            case Op::Xor: return become_splat(id, 0);
            default: break;
        }
    }
    return id;
}

// Combines x + c1 + c2 and x + c1 - c2; a negative sum becomes a subtraction.
NodeId Simplifier::add_constant(NodeId id) {
    const NodeId inner = fn_.arg(id, 0);
    if (!is_op(inner, Op::Add) && !is_op(inner, Op::Sub)) return id;
    const auto c1 = splat(fn_.arg(inner, 1));
    const auto c2 = splat(fn_.arg(id, 1));
    if (!c1 || !c2) return id;
    const DType type = fn_.type(id);
    const std::uint64_t mask = mask_of(type.scalar());
    const std::uint64_t sum =
        ((is_op(inner, Op::Sub) ? 0 - *c1 : *c1) + (is_op(id, Op::Sub) ? 0 - *c2 : *c2)) & mask;
    const NodeId x = fn_.arg(inner, 0);
    if (sum == 0) return x;
    const std::uint64_t sign = (mask >> 1) + 1;
    const bool subtract = sum > sign;
    const NodeId constant = emit_splat(type, subtract ? 0 - sum : sum, id);
    return become(id, subtract ? Op::Sub : Op::Add, {x, constant});
}

NodeId Simplifier::integer_identities(NodeId id) {
    const ir::Node node = fn_[id];
    const NodeId a = fn_.arg(id, 0);
    if (node.count == 1) return id;
    const NodeId b = fn_.arg(id, 1);
    const ScalarType type = node.type.scalar();
    const std::uint64_t mask = mask_of(type);
    const std::optional<std::uint64_t> c = splat(b);
    const bool zero = c && *c == 0;
    const bool one = c && *c == 1;
    const bool ones = c && *c == mask;
    const bool left_zero = splat(a) == std::optional<std::uint64_t>(0);

    switch (node.op) {
        case Op::Add:
            if (zero) return a;
            if (is_op(b, Op::Neg)) return become(id, Op::Sub, {a, fn_.arg(b, 0)});
            if (is_op(a, Op::Neg)) return become(id, Op::Sub, {b, fn_.arg(a, 0)});
            return add_constant(id);
        case Op::Sub:
            if (zero) return a;
            if (a == b) return become_splat(id, 0);
            if (left_zero) return become(id, Op::Neg, {b});
            if (is_op(b, Op::Neg)) return become(id, Op::Add, {a, fn_.arg(b, 0)});
            return add_constant(id);
        case Op::Mul:
            if (one) return a;
            if (zero) return become_splat(id, 0);
            if (c && is_op(a, Op::Mul)) {
                if (const auto inner = splat(fn_.arg(a, 1))) {
                    const NodeId x = fn_.arg(a, 0);
                    return become(id, Op::Mul, {x, emit_splat(node.type, *inner * *c, id)});
                }
            }
            return id;
        case Op::Div:
            if (one || zero) return a;  // x / 0 is x
            if (left_zero) return become_splat(id, 0);
            return id;
        case Op::Rem:
            if (one || zero || a == b || left_zero) return become_splat(id, 0);
            return id;
        case Op::Fma:
            if (one) return become(id, Op::Add, {a, fn_.arg(id, 2)});
            if (zero || left_zero) return fn_.arg(id, 2);
            if (splat(fn_.arg(id, 2)) == std::optional<std::uint64_t>(0)) return become(id, Op::Mul, {a, b});
            if (splat(a) == std::optional<std::uint64_t>(1)) return become(id, Op::Add, {b, fn_.arg(id, 2)});
            return id;
        case Op::Min:
        case Op::Max:
            if (c && is_unsigned_integer(type) && (zero || ones)) {
                return zero == (node.op == Op::Max) ? a : become_splat(id, *c);
            }
            return id;
        case Op::And:
            if (zero) return become_splat(id, 0);
            if (ones) return a;
            break;
        case Op::Or:
            if (zero) return a;
            if (ones) return become_splat(id, mask);
            break;
        case Op::Xor:
            if (zero) return a;
            if (ones) return become(id, Op::Not, {a});
            break;
        case Op::Shl:
        case Op::Shr:
            if (c && *c % bits_of(type) == 0) return a;
            if (left_zero) return become_splat(id, 0);
            return id;
        default: return id;
    }
    // Combines two consecutive And, Or or Xor with constants.
    if (c && is_op(a, node.op)) {
        if (const auto inner = splat(fn_.arg(a, 1))) {
            const std::uint64_t both = node.op == Op::And  ? *inner & *c
                                       : node.op == Op::Or ? *inner | *c
                                                           : *inner ^ *c;
            const NodeId x = fn_.arg(a, 0);
            return become(id, node.op, {x, emit_splat(node.type, both, id)});
        }
    }
    return id;
}

NodeId Simplifier::boolean_identities(NodeId id) {
    const Op op = fn_[id].op;
    const NodeId a = fn_.arg(id, 0);
    if (op == Op::Not) {
        if (ir::form(fn_[a].op) != ir::Form::Compare) return id;
        const bool is_float = fn_.type(fn_.arg(a, 0)).is_float();
        if (is_float && !is_op(a, Op::Eq) && !is_op(a, Op::Ne)) return id;
        return become(id, opposite(fn_[a].op), {fn_.arg(a, 0), fn_.arg(a, 1)});
    }
    if (fn_[id].count != 2) return id;
    const NodeId b = fn_.arg(id, 1);
    const auto c = splat(b);
    if (!c) return id;
    const bool is_true = *c != 0;
    switch (op) {
        case Op::And: return is_true ? a : become_splat(id, 0);
        case Op::Or: return is_true ? become_splat(id, 1) : a;
        case Op::Xor: return is_true ? become(id, Op::Not, {a}) : a;
        default: return id;
    }
}

NodeId Simplifier::comparison(NodeId id) {
    const Op op = fn_[id].op;
    const NodeId a = fn_.arg(id, 0);
    const NodeId b = fn_.arg(id, 1);
    const DType type = fn_.type(a);
    if (type.is_float()) return id;
    const bool reflexive = op == Op::Eq || op == Op::Le || op == Op::Ge;
    if (a == b) return become_splat(id, reflexive);
    const auto c = splat(b);
    if (!c) return id;
    if (type.is_bool()) {
        const bool same = (op == Op::Eq) == (*c != 0);
        return same ? a : become(id, Op::Not, {a});
    }
    const ScalarType scalar = type.scalar();
    const std::uint64_t mask = mask_of(scalar);
    const std::uint64_t lowest = is_signed_integer(scalar) ? (mask >> 1) + 1 : 0;
    const std::uint64_t highest = is_signed_integer(scalar) ? mask >> 1 : mask;
    if (*c == lowest && (op == Op::Lt || op == Op::Ge)) return become_splat(id, op == Op::Ge);
    if (*c == highest && (op == Op::Gt || op == Op::Le)) return become_splat(id, op == Op::Le);
    return id;
}

NodeId Simplifier::float_identities(NodeId id) {
    const ir::Node node = fn_[id];
    if (node.count == 1) return id;
    const NodeId a = fn_.arg(id, 0);
    const NodeId b = fn_.arg(id, 1);
    const FloatBits format(node.type.scalar());
    const std::optional<std::uint64_t> c = splat(b);
    const bool one = c && *c == format.one;

    switch (node.op) {
        case Op::Add:  // x + 0 is not x: -0 + 0 = 0
            if (c && *c == format.sign) return a;
            if (is_op(b, Op::Neg)) return become(id, Op::Sub, {a, fn_.arg(b, 0)});
            if (is_op(a, Op::Neg)) return become(id, Op::Sub, {b, fn_.arg(a, 0)});
            return id;
        case Op::Sub:  // x - (-0) is not x either
            if (c && *c == 0) return a;
            if (is_op(b, Op::Neg)) return become(id, Op::Add, {a, fn_.arg(b, 0)});
            return id;
        case Op::Mul:
            if (one) return a;
            if (is_op(a, Op::Neg) && is_op(b, Op::Neg)) {
                return become(id, Op::Mul, {fn_.arg(a, 0), fn_.arg(b, 0)});
            }
            if (c && is_op(a, Op::Neg)) {
                const NodeId x = fn_.arg(a, 0);
                return become(id, Op::Mul, {x, emit_splat(node.type, *c ^ format.sign, id)});
            }
            return id;
        case Op::Div:
            if (one) return a;
            if (c) {
                // The reciprocal of a power of two is exact, so the product rounds like the quotient.
                if (const auto inverse = format.reciprocal(*c)) {
                    return become(id, Op::Mul, {a, emit_splat(node.type, *inverse, id)});
                }
            }
            return id;
        case Op::Fma: {
            const NodeId addend = fn_.arg(id, 2);
            if (one) return become(id, Op::Add, {a, addend});
            if (splat(a) == std::optional(format.one)) return become(id, Op::Add, {b, addend});
            if (splat(addend) == std::optional(format.sign)) return become(id, Op::Mul, {a, b});
            return id;
        }
        default: return id;
    }
}

}  // namespace volley::passes
