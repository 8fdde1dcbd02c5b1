// The functions of real numbers and vectors that consist of several operations.
#include "lang/expand.hpp"

#include <numbers>

namespace volley::lang {

using ir::NodeId;
using ir::Op;

NodeId Expand::real_fn(Fn fn, Nodes args) {
    const NodeId a = args[0];
    const DType t = type(a);
    switch (fn) {
        case Fn::Fract: return sub(a, op(Op::Floor, {a}));
        case Fn::Mod: {
            const NodeId y = args[1];
            if (t.is_float()) return sub(a, mul(y, op(Op::Floor, {div(a, y)})));
            const NodeId rem = op(Op::Rem, {a, y});
            if (t.is_unsigned()) return rem;
            const NodeId zero = number(t, 0);
            const NodeId wrong_sign = op(Op::Lt, {op(Op::Xor, {rem, y}), zero});
            return select(op(Op::And, {wrong_sign, op(Op::Ne, {rem, zero})}), add(rem, y), rem);
        }
        case Fn::ModfFraction: {
            // The fraction of integers and infinities is a zero with their sign.
            const NodeId whole = op(Op::Trunc, {a});
            const NodeId unit = op(Op::Max, {op(Op::Min, {a, number(t, 1)}), number(t, -1)});
            return select(op(Op::Eq, {a, whole}), mul(unit, number(t, 0)), sub(a, whole));
        }
        case Fn::Clamp: return op(Op::Min, {op(Op::Max, {a, args[1]}), args[2]});
        case Fn::Mix: return add(mul(a, sub(number(t, 1), args[2])), mul(args[1], args[2]));
        case Fn::Step: return select(op(Op::Lt, {args[1], a}), number(t, 0), number(t, 1));
        case Fn::Smoothstep: {
            const NodeId raw = div(sub(args[2], a), sub(args[1], a));
            const NodeId x = op(Op::Min, {op(Op::Max, {raw, number(t, 0)}), number(t, 1)});
            return mul(mul(x, x), sub(number(t, 3), mul(number(t, 2), x)));
        }
        case Fn::IsFinite: return op(Op::Not, {op(Op::Or, {op(Op::IsNan, {a}), op(Op::IsInf, {a})})});
        case Fn::Radians: return mul(a, number(t, std::numbers::pi / 180));
        default: return mul(a, number(t, 180 / std::numbers::pi));  // Degrees
    }
}

NodeId Expand::dot(NodeId a, NodeId b) {
    if (type(a).is_scalar()) return mul(a, b);
    NodeId sum = mul(part(a, 0), part(b, 0));
    for (std::uint32_t k = 1; k < type(a).count(); ++k) sum = add(sum, mul(part(a, k), part(b, k)));
    return sum;
}

NodeId Expand::vector_fn(Fn fn, Nodes args) {
    const NodeId a = args[0];
    const DType t = type(a);
    switch (fn) {
        case Fn::Dot: return dot(a, args[1]);
        case Fn::Length: return t.is_scalar() ? op(Op::Abs, {a}) : op(Op::Sqrt, {dot(a, a)});
        case Fn::Distance: {
            const NodeId difference[] = {sub(a, args[1])};
            return vector_fn(Fn::Length, difference);
        }
        case Fn::Cross: {
            const NodeId b = args[1];
            NodeId parts[3];
            for (std::uint32_t k = 0; k < 3; ++k) {
                const std::uint32_t i = (k + 1) % 3;
                const std::uint32_t j = (k + 2) % 3;
                parts[k] = sub(mul(part(a, i), part(b, j)), mul(part(a, j), part(b, i)));
            }
            return make(t, parts);
        }
        case Fn::Normalize: return mul(a, widen(op(Op::Rsqrt, {dot(a, a)}), t));
        case Fn::Reflect: {
            const NodeId n = args[1];
            return sub(a, mul(n, widen(mul(number(t.scalar(), 2), dot(n, a)), t)));
        }
        default: {  // Any, All
            if (t.is_scalar()) return a;
            NodeId result = part(a, 0);
            for (std::uint32_t k = 1; k < t.count(); ++k) {
                result = op(fn == Fn::Any ? Op::Or : Op::And, {result, part(a, k)});
            }
            return result;
        }
    }
}

}  // namespace volley::lang
