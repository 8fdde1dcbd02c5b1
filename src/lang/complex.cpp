// Complex arithmetic in real operations. A real operand stays real: scaling by it costs two products, and an
// infinite part is not multiplied by an implied zero. Functions of f16 compute in f32, like those of real
// numbers.
#include "lang/expand.hpp"

#include <limits>
#include <numbers>

namespace volley::lang {

using ir::NodeId;
using ir::Op;

namespace {

double largest(DType type) {
    return type.scalar() == ScalarType::F64 ? std::numeric_limits<double>::max()
                                            : static_cast<double>(std::numeric_limits<float>::max());
}

}  // namespace

NodeId Expand::complex_mul(NodeId a, NodeId b) {
    if (!type(a).is_complex()) std::swap(a, b);
    const NodeId ar = re(a);
    const NodeId ai = im(a);
    if (!type(b).is_complex()) return complex(mul(ar, b), mul(ai, b));
    const NodeId br = re(b);
    const NodeId bi = im(b);
    return complex(sub(mul(ar, br), mul(ai, bi)), add(mul(ar, bi), mul(ai, br)));
}

// Smith's method: divides by the larger part of b first, so that |b|^2 is never computed. Sums of two parts
// are at most twice the larger part, so both operands are halved first to avoid overflow. A small divisor is
// not halved: that would lose bits, and a sum that overflows then belongs to a quotient that overflows.
NodeId Expand::complex_div(NodeId a, NodeId b) {
    if (type(a).scalar() == ScalarType::F16) return narrowed(complex_div(widened(a), widened(b)));
    const bool real_dividend = !type(a).is_complex();
    const NodeId ar = re(a);
    if (!type(b).is_complex()) return complex(div(ar, b), div(im(a), b));
    const DType t = type(ar);
    const NodeId zero = number(t, 0);
    const NodeId ai = real_dividend ? zero : im(a);
    const NodeId br = re(b);
    const NodeId bi = im(b);
    const NodeId abs_br = op(Op::Abs, {br});
    const NodeId abs_bi = op(Op::Abs, {bi});
    const NodeId real_larger = op(Op::Ge, {abs_br, abs_bi});
    const NodeId large = select(real_larger, br, bi);
    const NodeId small = select(real_larger, bi, br);
    // For a zero divisor the ratio is zero, so that the parts are divided by zero.
    const NodeId ratio = select(op(Op::Eq, {large, zero}), zero, div(small, large));
    const NodeId scale =
        select(op(Op::Lt, {op(Op::Max, {abs_br, abs_bi}), number(t, 0.5)}), number(t, 1), number(t, 0.5));
    const NodeId divisor = add(mul(large, scale), mul(mul(small, scale), ratio));
    const NodeId p = mul(select(real_larger, ar, ai), scale);
    const NodeId q = mul(select(real_larger, ai, ar), scale);
    // With |br| >= |bi|: (ar + ai r) / d and (ai - ar r) / d; else (ar r + ai) / d and (ai r - ar) / d.
    const NodeId imaginary = sub(q, mul(p, ratio));
    return complex(div(add(p, mul(q, ratio)), divisor),
                   div(select(real_larger, imaginary, neg(imaginary)), divisor));
}

NodeId Expand::complex_equal(Op compare, NodeId a, NodeId b) {
    const DType t = type(a).is_complex() ? type(a) : type(b);
    a = widen(a, t);
    b = widen(b, t);
    return op(compare == Op::Eq ? Op::And : Op::Or,
              {op(compare, {re(a), re(b)}), op(compare, {im(a), im(b)})});
}

NodeId Expand::widened(NodeId a) {
    return b_.convert(a, type(a).is_complex() ? DType::complex(ScalarType::F32) : DType(ScalarType::F32));
}

NodeId Expand::narrowed(NodeId z) { return b_.convert(z, DType::complex(ScalarType::F16)); }

NodeId Expand::is_negative(NodeId a) {
    const unsigned bits = bits_of(type(a).scalar());
    const ScalarType whole = bits == 32 ? ScalarType::I32 : ScalarType::I64;
    return op(Op::Lt, {b_.emit(Op::Bitcast, {a}, whole), number(whole, 0)});
}

NodeId Expand::complex_log(NodeId z) {
    const NodeId x = re(z);
    const NodeId y = im(z);
    const DType t = type(x);
    // |z| may overflow; z is then halved.
    const NodeId larger = op(Op::Max, {op(Op::Abs, {x}), op(Op::Abs, {y})});
    const NodeId is_huge = op(Op::Gt, {larger, number(t, largest(t) / 2)});
    const NodeId scale = select(is_huge, number(t, 0.5), number(t, 1));
    const NodeId radius = op(Op::Hypot, {mul(x, scale), mul(y, scale)});
    return complex(add(op(Op::Log, {radius}), select(is_huge, number(t, std::numbers::ln2), number(t, 0))),
                   op(Op::Atan2, {y, x}));
}

NodeId Expand::complex_sqrt(NodeId z) {
    const DType t = type(z).scalar();
    const NodeId abs_x = op(Op::Abs, {re(z)});
    const NodeId abs_y = op(Op::Abs, {im(z)});
    // |x| + |z| is at most three times the larger part; if that might overflow, z is divided by 16.
    const NodeId is_huge = op(Op::Gt, {op(Op::Max, {abs_x, abs_y}), number(t, largest(t) / 4)});
    const NodeId scale = select(is_huge, number(t, 0.0625), number(t, 1));
    const NodeId x = mul(re(z), scale);
    const NodeId y = mul(im(z), scale);
    // r = sqrt((|x| + |z|) / 2) avoids cancellation; the other part is y / 2r.
    const NodeId half = number(t, 0.5);
    const NodeId zero = number(t, 0);
    const NodeId r = op(Op::Sqrt, {mul(add(op(Op::Abs, {x}), op(Op::Hypot, {x, y})), half)});
    const NodeId other = select(op(Op::Eq, {r, zero}), y, div(mul(y, half), r));
    const NodeId right = op(Op::Ge, {x, zero});
    const NodeId real = select(right, r, op(Op::Abs, {other}));
    // The branch cut is along the negative real numbers: the imaginary part has the sign of y, including -0.
    const NodeId imaginary = select(right, other, select(is_negative(y), neg(r), r));
    const NodeId back = select(is_huge, number(t, 4), number(t, 1));
    const NodeId is_infinite = op(Op::IsInf, {y});
    return complex(select(is_infinite, abs_y, mul(real, back)), select(is_infinite, y, mul(imaginary, back)));
}

NodeId Expand::complex_fn(Fn fn, Nodes args) {
    const NodeId z = args[0];
    const DType part_type = type(z).scalar();
    const bool transcendental = fn == Fn::Exp || fn == Fn::Log || fn == Fn::Sqrt || fn == Fn::Pow;
    if (transcendental && part_type.scalar() == ScalarType::F16) {
        std::vector<NodeId> wide;
        for (const NodeId arg : args) wide.push_back(widened(arg));
        return narrowed(complex_fn(fn, wide));
    }
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
            // Real numbers stay real, even if the radius overflows.
            const NodeId is_real = op(Op::Eq, {angle, number(part_type, 0)});
            return complex(mul(radius, op(Op::Cos, {angle})),
                           select(is_real, angle, mul(radius, op(Op::Sin, {angle}))));
        }
        case Fn::Log: return complex_log(z);
        case Fn::Sqrt: return complex_sqrt(z);
        default: {  // Pow: exp(w * log(z)); 0 to the power of 0 is 1, to any other power 0
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
