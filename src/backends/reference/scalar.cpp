// Integers, bools, the exact float operations, and conversions. Functions with an error bound are in
// scalar_functions.cpp.
#include "backends/reference/scalar.hpp"

#include "backends/reference/scalar_value.hpp"
#include "core/fail.hpp"

#include <cmath>
#include <type_traits>

namespace volley::backends::reference {
namespace {

using ir::Op;
using Bits = std::uint64_t;

ScalarFn bool_function(Op op) {
    switch (op) {
        case Op::And: return [](Bits a, Bits b, Bits) { return a & b; };
        case Op::Or: return [](Bits a, Bits b, Bits) { return a | b; };
        case Op::Xor:
        case Op::Ne: return [](Bits a, Bits b, Bits) { return a ^ b; };
        case Op::Eq: return [](Bits a, Bits b, Bits) { return Bits{a == b}; };
        case Op::Not: return [](Bits a, Bits, Bits) { return a ^ 1u; };
        default: return nullptr;
    }
}

template <class T>
ScalarFn comparison(Op op) {
    switch (op) {
        case Op::Eq: return [](Bits a, Bits b, Bits) { return Bits{value<T>(a) == value<T>(b)}; };
        case Op::Ne: return [](Bits a, Bits b, Bits) { return Bits{value<T>(a) != value<T>(b)}; };
        case Op::Lt: return [](Bits a, Bits b, Bits) { return Bits{value<T>(a) < value<T>(b)}; };
        case Op::Le: return [](Bits a, Bits b, Bits) { return Bits{value<T>(a) <= value<T>(b)}; };
        case Op::Gt: return [](Bits a, Bits b, Bits) { return Bits{value<T>(a) > value<T>(b)}; };
        case Op::Ge: return [](Bits a, Bits b, Bits) { return Bits{value<T>(a) >= value<T>(b)}; };
        default: return nullptr;
    }
}

template <class T>
constexpr Bits width = sizeof(T) * 8;

template <class T>
Bits wrap(Bits wide) {
    return static_cast<std::make_unsigned_t<T>>(wide);
}

template <class T>
Bits divide(Bits a, Bits b, Bits) {
    const T x = value<T>(a);
    const T y = value<T>(b);
    if (y == 0) return a;
    if constexpr (std::is_signed_v<T>) {
        if (y == -1) return wrap<T>(0 - a);  // the minimum wraps to itself
    }
    return bits(static_cast<T>(x / y));
}

template <class T>
Bits remainder(Bits a, Bits b, Bits) {
    const T x = value<T>(a);
    const T y = value<T>(b);
    if (y == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
        if (y == -1) return 0;
    }
    return bits(static_cast<T>(x % y));
}

template <class T>
Bits shift_right(Bits a, Bits b, Bits) {
    const Bits amount = b % width<T>;
    Bits result = a >> amount;
    if (value<T>(a) < 0) result |= ~Bits{0} << (width<T> - amount - 1) << 1;
    return wrap<T>(result);
}

template <class T>
Bits count_leading(Bits a, Bits, Bits) {
    Bits n = 0;
    while (n < width<T> && ((a >> (width<T> - 1 - n)) & 1u) == 0) ++n;
    return n;
}

template <class T>
Bits count_trailing(Bits a, Bits, Bits) {
    Bits n = 0;
    while (n < width<T> && ((a >> n) & 1u) == 0) ++n;
    return n;
}

template <class T>
Bits reverse(Bits a, Bits, Bits) {
    Bits result = 0;
    for (Bits i = 0; i < width<T>; ++i) result |= ((a >> i) & 1u) << (width<T> - 1 - i);
    return result;
}

template <class T>
ScalarFn integer_function(Op op) {
    switch (op) {
        case Op::Neg: return [](Bits a, Bits, Bits) { return wrap<T>(0 - a); };
        case Op::Abs: return [](Bits a, Bits, Bits) { return value<T>(a) < 0 ? wrap<T>(0 - a) : a; };
        case Op::Sign:
            return [](Bits a, Bits, Bits) {
                const T x = value<T>(a);
                return bits(static_cast<T>((x > 0) - (x < 0)));
            };
        case Op::Add: return [](Bits a, Bits b, Bits) { return wrap<T>(a + b); };
        case Op::Sub: return [](Bits a, Bits b, Bits) { return wrap<T>(a - b); };
        case Op::Mul: return [](Bits a, Bits b, Bits) { return wrap<T>(a * b); };
        case Op::Fma: return [](Bits a, Bits b, Bits c) { return wrap<T>(a * b + c); };
        case Op::Div: return divide<T>;
        case Op::Rem: return remainder<T>;
        case Op::Min: return [](Bits a, Bits b, Bits) { return value<T>(b) < value<T>(a) ? b : a; };
        case Op::Max: return [](Bits a, Bits b, Bits) { return value<T>(a) < value<T>(b) ? b : a; };
        case Op::And: return [](Bits a, Bits b, Bits) { return a & b; };
        case Op::Or: return [](Bits a, Bits b, Bits) { return a | b; };
        case Op::Xor: return [](Bits a, Bits b, Bits) { return a ^ b; };
        case Op::Not: return [](Bits a, Bits, Bits) { return wrap<T>(~a); };
        case Op::Shl: return [](Bits a, Bits b, Bits) { return wrap<T>(a << (b % width<T>)); };
        case Op::Shr: return shift_right<T>;
        case Op::PopCount:
            return [](Bits a, Bits, Bits) {
                Bits n = 0;
                for (; a != 0; a &= a - 1) ++n;
                return n;
            };
        case Op::Clz: return count_leading<T>;
        case Op::Ctz: return count_trailing<T>;
        case Op::ReverseBits: return reverse<T>;
        default: return comparison<T>(op);
    }
}

template <class T>
constexpr Bits sign_bit = Bits{1} << (width<T> - 1);

// f16 arithmetic is computed in f32 and rounded, so Compute is float for it.
template <class T>
ScalarFn float_function(Op op) {
    using Compute = std::conditional_t<std::is_same_v<T, half>, float, T>;
    switch (op) {
        case Op::Neg: return [](Bits a, Bits, Bits) { return a ^ sign_bit<T>; };
        case Op::Abs: return [](Bits a, Bits, Bits) { return a & ~sign_bit<T>; };
        case Op::Sign:
            return [](Bits a, Bits, Bits) {
                const Compute x = value<T>(a);
                return x > 0   ? bits(T(Compute(1)))
                       : x < 0 ? bits(T(Compute(-1)))
                               : a;  // zeros and NaN are unchanged
            };
        case Op::Add: return [](Bits a, Bits b, Bits) { return bits(T(Compute(value<T>(a)) + value<T>(b))); };
        case Op::Sub: return [](Bits a, Bits b, Bits) { return bits(T(Compute(value<T>(a)) - value<T>(b))); };
        case Op::Mul: return [](Bits a, Bits b, Bits) { return bits(T(Compute(value<T>(a)) * value<T>(b))); };
        case Op::Div: return [](Bits a, Bits b, Bits) { return bits(T(Compute(value<T>(a)) / value<T>(b))); };
        case Op::Rem:
            return [](Bits a, Bits b, Bits) {
                return bits(T(std::fmod(Compute(value<T>(a)), Compute(value<T>(b)))));
            };
        case Op::Fma:
            return [](Bits a, Bits b, Bits c) {
                return bits(T(std::fma(Compute(value<T>(a)), Compute(value<T>(b)), Compute(value<T>(c)))));
            };
        case Op::Min:
            return [](Bits a, Bits b, Bits) {
                const Compute x = value<T>(a);
                const Compute y = value<T>(b);
                if (std::isnan(x)) return b;
                return y < x ? b : a;
            };
        case Op::Max:
            return [](Bits a, Bits b, Bits) {
                const Compute x = value<T>(a);
                const Compute y = value<T>(b);
                if (std::isnan(x)) return b;
                return x < y ? b : a;
            };
        case Op::IsNan: return [](Bits a, Bits, Bits) { return Bits{std::isnan(Compute(value<T>(a)))}; };
        case Op::IsInf: return [](Bits a, Bits, Bits) { return Bits{std::isinf(Compute(value<T>(a)))}; };
        case Op::Floor: return [](Bits a, Bits, Bits) { return bits(T(std::floor(Compute(value<T>(a))))); };
        case Op::Ceil: return [](Bits a, Bits, Bits) { return bits(T(std::ceil(Compute(value<T>(a))))); };
        case Op::Trunc: return [](Bits a, Bits, Bits) { return bits(T(std::trunc(Compute(value<T>(a))))); };
        case Op::Round: return [](Bits a, Bits, Bits) { return bits(T(std::round(Compute(value<T>(a))))); };
        case Op::RoundEven:
            return [](Bits a, Bits, Bits) {
                // remainder(x, 1) is exactly x minus the nearest integer, with ties to even.
                const Compute x = value<T>(a);
                if (!std::isfinite(x)) return bits(T(x));
                return bits(T(std::copysign(x - std::remainder(x, Compute(1)), x)));
            };
        case Op::Sqrt: return [](Bits a, Bits, Bits) { return bits(T(std::sqrt(Compute(value<T>(a))))); };
        default: break;
    }
    if (const ScalarFn compare = comparison<T>(op)) return compare;
    return inexact_function(op, scalar_type_of<T>);
}

// Saturates by comparison with powers of two, which every float type represents exactly.
template <class To>
To saturate(double x) {
    constexpr int digits = std::numeric_limits<To>::digits;
    if (std::isnan(x)) return 0;
    if (x >= std::ldexp(1.0, digits)) return std::numeric_limits<To>::max();
    if (std::is_signed_v<To> ? x < -std::ldexp(1.0, digits) : x <= -1.0)
        return std::numeric_limits<To>::min();
    return static_cast<To>(x);
}

template <class To, class From>
Bits convert(From x) {
    constexpr bool from_float = std::is_floating_point_v<From> || std::is_same_v<From, half>;
    if constexpr (std::is_same_v<To, bool>) {
        return Bits{x != From(0)};  // NaN differs from zero
    } else if constexpr (std::is_integral_v<To>) {
        if constexpr (from_float) {
            return bits(saturate<To>(static_cast<double>(x)));
        } else {
            return bits(static_cast<To>(x));
        }
    } else if constexpr (std::is_same_v<To, half>) {
        if constexpr (std::is_same_v<From, bool>) {
            return bits(half(x ? 1.0f : 0.0f));
        } else {
            return bits(half(x));
        }
    } else {
        return bits(static_cast<To>(x));
    }
}

template <class From>
Bits convert_from(ScalarType to, From x) {
    return with_type(to, [&](auto tag) { return convert<typename decltype(tag)::type>(x); });
}

}  // namespace

ScalarFn scalar_function(Op op, ScalarType type) {
    return with_type(type, [&](auto tag) -> ScalarFn {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_same_v<T, bool>) {
            return bool_function(op);
        } else if constexpr (std::is_integral_v<T>) {
            return integer_function<T>(op);
        } else {
            return float_function<T>(op);
        }
    });
}

std::uint64_t convert_scalar(ScalarType from, ScalarType to, std::uint64_t raw) {
    return with_type(from,
                     [&](auto tag) { return convert_from(to, value<typename decltype(tag)::type>(raw)); });
}

std::uint64_t identity_of(Op fold, ScalarType type) {
    return with_type(type, [&](auto tag) -> Bits {
        using T = typename decltype(tag)::type;
        using Limits = std::numeric_limits<T>;
        switch (fold) {
            case Op::Add:
            case Op::Or:
            case Op::Xor: return 0;
            case Op::Mul: return convert_scalar(ScalarType::U8, type, 1);
            case Op::Min: return bits(Limits::has_infinity ? Limits::infinity() : Limits::max());
            case Op::Max:
                if constexpr (Limits::has_infinity) {
                    return bits(T(-Limits::infinity()));
                } else {
                    return bits(Limits::lowest());
                }
            case Op::And: return size_of(type) == 8 ? ~Bits{0} : (Bits{1} << bits_of(type)) - 1;
            default: fail_internal("a subgroup operation has no identity", "reference interpreter");
        }
    });
}

std::int64_t as_int64(ScalarType type, std::uint64_t raw) {
    return with_type(type, [&](auto tag) -> std::int64_t {
        using T = typename decltype(tag)::type;
        if constexpr (std::is_integral_v<T>) {
            return static_cast<std::int64_t>(value<T>(raw));
        } else {
            fail_internal("an index is not an integer", "reference interpreter");
        }
    });
}

}  // namespace volley::backends::reference
