// Transcendental functions. They are computed in the next wider type and rounded, which is well within the
// bounds of docs/ir.md, with the edge cases of C's Annex F.
#include "backends/reference/scalar_value.hpp"

#include <cmath>
#include <type_traits>

namespace volley::backends::reference {
namespace {

using ir::Op;
using Bits = std::uint64_t;

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, double>, long double, double>;

template <class T>
Wide<T> wide(Bits raw) {
    return static_cast<Wide<T>>(value<T>(raw));
}

template <class T>
Bits rounded(Wide<T> x) {
    return bits(static_cast<T>(x));
}

template <class T>
ScalarFn function(Op op) {
    switch (op) {
        case Op::Rsqrt: return [](Bits a, Bits, Bits) { return rounded<T>(1 / std::sqrt(wide<T>(a))); };
        case Op::Sin: return [](Bits a, Bits, Bits) { return rounded<T>(std::sin(wide<T>(a))); };
        case Op::Cos: return [](Bits a, Bits, Bits) { return rounded<T>(std::cos(wide<T>(a))); };
        case Op::Tan: return [](Bits a, Bits, Bits) { return rounded<T>(std::tan(wide<T>(a))); };
        case Op::Asin: return [](Bits a, Bits, Bits) { return rounded<T>(std::asin(wide<T>(a))); };
        case Op::Acos: return [](Bits a, Bits, Bits) { return rounded<T>(std::acos(wide<T>(a))); };
        case Op::Atan: return [](Bits a, Bits, Bits) { return rounded<T>(std::atan(wide<T>(a))); };
        case Op::Atan2:
            return [](Bits a, Bits b, Bits) { return rounded<T>(std::atan2(wide<T>(a), wide<T>(b))); };
        case Op::Sinh: return [](Bits a, Bits, Bits) { return rounded<T>(std::sinh(wide<T>(a))); };
        case Op::Cosh: return [](Bits a, Bits, Bits) { return rounded<T>(std::cosh(wide<T>(a))); };
        case Op::Tanh: return [](Bits a, Bits, Bits) { return rounded<T>(std::tanh(wide<T>(a))); };
        case Op::Asinh: return [](Bits a, Bits, Bits) { return rounded<T>(std::asinh(wide<T>(a))); };
        case Op::Acosh: return [](Bits a, Bits, Bits) { return rounded<T>(std::acosh(wide<T>(a))); };
        case Op::Atanh: return [](Bits a, Bits, Bits) { return rounded<T>(std::atanh(wide<T>(a))); };
        case Op::Exp: return [](Bits a, Bits, Bits) { return rounded<T>(std::exp(wide<T>(a))); };
        case Op::Exp2: return [](Bits a, Bits, Bits) { return rounded<T>(std::exp2(wide<T>(a))); };
        case Op::Exp10:
            return [](Bits a, Bits, Bits) { return rounded<T>(std::pow(Wide<T>(10), wide<T>(a))); };
        case Op::Expm1: return [](Bits a, Bits, Bits) { return rounded<T>(std::expm1(wide<T>(a))); };
        case Op::Log: return [](Bits a, Bits, Bits) { return rounded<T>(std::log(wide<T>(a))); };
        case Op::Log2: return [](Bits a, Bits, Bits) { return rounded<T>(std::log2(wide<T>(a))); };
        case Op::Log10: return [](Bits a, Bits, Bits) { return rounded<T>(std::log10(wide<T>(a))); };
        case Op::Log1p: return [](Bits a, Bits, Bits) { return rounded<T>(std::log1p(wide<T>(a))); };
        case Op::Pow:
            return [](Bits a, Bits b, Bits) { return rounded<T>(std::pow(wide<T>(a), wide<T>(b))); };
        case Op::Cbrt: return [](Bits a, Bits, Bits) { return rounded<T>(std::cbrt(wide<T>(a))); };
        case Op::Hypot:
            return [](Bits a, Bits b, Bits) { return rounded<T>(std::hypot(wide<T>(a), wide<T>(b))); };
        default: return nullptr;
    }
}

}  // namespace

ScalarFn inexact_function(Op op, ScalarType type) {
    switch (type) {
        case ScalarType::F16: return function<half>(op);
        case ScalarType::F32: return function<float>(op);
        case ScalarType::F64: return function<double>(op);
        default: return nullptr;
    }
}

}  // namespace volley::backends::reference
