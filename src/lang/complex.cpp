// Complex arithmetic in real operations. A real operand stays real: scaling by it costs two products, and an
// infinite part does not meet an invented zero.
#include "lang/expand.hpp"

namespace volley::lang {

using ir::NodeId;
using ir::Op;

NodeId Expand::complex_mul(NodeId a, NodeId b) {
    if (!type(a).is_complex()) std::swap(a, b);
    const NodeId ar = re(a);
    const NodeId ai = im(a);
    if (!type(b).is_complex()) return complex(mul(ar, b), mul(ai, b));
    const NodeId br = re(b);
    const NodeId bi = im(b);
    return complex(sub(mul(ar, br), mul(ai, bi)), add(mul(ar, bi), mul(ai, br)));
}

// Smith's method: divides by the larger part of b first, so that |b|^2 is never formed.
NodeId Expand::complex_div(NodeId a, NodeId b) {
    const bool real_dividend = !type(a).is_complex();
    const NodeId ar = re(a);
    if (!type(b).is_complex()) return complex(div(ar, b), div(im(a), b));
    const NodeId ai = real_dividend ? number(type(a), 0) : im(a);
    const NodeId br = re(b);
    const NodeId bi = im(b);
    const NodeId real_larger = op(Op::Ge, {op(Op::Abs, {br}), op(Op::Abs, {bi})});
    const NodeId large = select(real_larger, br, bi);
    const NodeId small = select(real_larger, bi, br);
    const NodeId ratio = div(small, large);
    const NodeId scale = add(large, mul(small, ratio));
    const NodeId p = select(real_larger, ar, ai);
    const NodeId q = select(real_larger, ai, ar);
    // With |br| >= |bi|: (ar + ai r) / d and (ai - ar r) / d; else (ar r + ai) / d and (ai r - ar) / d.
    const NodeId imaginary = sub(q, mul(p, ratio));
    return complex(div(add(p, mul(q, ratio)), scale),
                   div(select(real_larger, imaginary, neg(imaginary)), scale));
}

NodeId Expand::complex_equal(Op compare, NodeId a, NodeId b) {
    const DType t = type(a).is_complex() ? type(a) : type(b);
    a = widen(a, t);
    b = widen(b, t);
    return op(compare == Op::Eq ? Op::And : Op::Or,
              {op(compare, {re(a), re(b)}), op(compare, {im(a), im(b)})});
}

NodeId Expand::complex_fn(Fn fn, Nodes args) {
    const NodeId z = args[0];
    const DType part_type = type(z).scalar();
    switch (fn) {
        case Fn::Real: return re(z);
        case Fn::Imag: return im(z);
        case Fn::Conj: return complex(re(z), neg(im(z)));
        case Fn::Abs: return op(Op::Hypot, {re(z), im(z)});
        case Fn::Arg: return op(Op::Atan2, {im(z), re(z)});
        case Fn::Norm: return dot(z, z);
        case Fn::Cis: return complex(op(Op::Cos, {z}), op(Op::Sin, {z}));
        case Fn::Polar: return complex(mul(z, op(Op::Cos, {args[1]})), mul(z, op(Op::Sin, {args[1]})));
        case Fn::Exp: {
            const NodeId radius = op(Op::Exp, {re(z)});
            const NodeId angle = im(z);
            return complex(mul(radius, op(Op::Cos, {angle})), mul(radius, op(Op::Sin, {angle})));
        }
        case Fn::Log: {
            const NodeId x = re(z);
            const NodeId y = im(z);
            return complex(op(Op::Log, {op(Op::Hypot, {x, y})}), op(Op::Atan2, {y, x}));
        }
        case Fn::Sqrt: {
            // t = sqrt((|x| + |z|) / 2) has no cancellation; the other part is y / 2t.
            const NodeId x = re(z);
            const NodeId y = im(z);
            const NodeId zero = number(part_type, 0);
            const NodeId half_sum = mul(add(op(Op::Abs, {x}), op(Op::Hypot, {x, y})), number(part_type, 0.5));
            const NodeId t = op(Op::Sqrt, {half_sum});
            const NodeId other = select(op(Op::Eq, {t, zero}), y, div(mul(y, number(part_type, 0.5)), t));
            const NodeId right = op(Op::Ge, {x, zero});
            const NodeId signed_t = select(op(Op::Lt, {y, zero}), neg(t), t);
            return complex(select(right, t, op(Op::Abs, {other})), select(right, other, signed_t));
        }
        default: {  // Pow: exp(w * log(z)), and 0 to any power is 0, to the power of 0 it is 1
            const NodeId w = args[1];
            const DType t = type(z).is_complex() ? type(z) : type(w);
            const NodeId base[] = {widen(z, t)};
            const NodeId exponent[] = {complex_mul(complex_fn(Fn::Log, base), w)};
            const NodeId power = complex_fn(Fn::Exp, exponent);
            const NodeId zero = number(part_type, 0);
            const NodeId base_is_zero = complex_equal(Op::Eq, base[0], zero);
            const NodeId of_zero =
                select(complex_equal_zero(w), widen(number(part_type, 1), t), widen(zero, t));
            return select(base_is_zero, of_zero, power);
        }
    }
}

NodeId Expand::complex_equal_zero(NodeId w) {
    const NodeId zero = number(type(w).scalar(), 0);
    return type(w).is_complex() ? complex_equal(Op::Eq, w, zero) : op(Op::Eq, {w, zero});
}

}  // namespace volley::lang
