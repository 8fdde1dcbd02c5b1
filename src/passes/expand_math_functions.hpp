// The functions of the IR as arithmetic, for f32 and f64 scalars and vectors. One algorithm serves both
// formats; tables and limits differ. Accuracy and edge values are those of docs/ir.md section 4.
#pragma once

#include "passes/expand_math_emitter.hpp"

namespace volley::passes::math {

// expand_math_exp.cpp
Value exp(Value x);
Value exp2(Value x);
Value exp10(Value x);
Value expm1(Value x);
Value sinh(Value x);
Value cosh(Value x);
Value tanh(Value x);

// expand_math_log.cpp
Value log(Value x);
Value log2(Value x);
Value log10(Value x);
Value log1p(Value x);
Value asinh(Value x);
Value acosh(Value x);
Value atanh(Value x);

// expand_math_pow.cpp
Value pow(Value x, Value y);

// expand_math_trig.cpp
Value sin(Value x);
Value cos(Value x);
Value tan(Value x);

// expand_math_inverse.cpp
Value asin(Value x);
Value acos(Value x);
Value atan(Value x);
Value atan2(Value y, Value x);

// expand_math_root.cpp
Value rsqrt(Value x);
Value cbrt(Value x);
Value hypot(Value x, Value y);

// expand_math_rem.cpp: scalars only
Value rem(Value x, Value y);

// What families share.

/// A whole number n as the low bits of 1.5 * 2^fraction + n, and as itself.
struct Whole {
    Value packed;
    Value n;
};
/// The whole number next to x * factor.
Whole nearest_whole(Value x, double factor);
/// 2^(n + more), which must be normal.
Value power_of_two(const Whole& n, int more);
/// p * 2^n for the whole range of n with a result; `negative` says whether n <= 0.
Value scale(Value p, const Whole& n, Value negative);
/// 2^r for |r| <= 1/2.
Value exp2_of_fraction(Value r);

/// x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for positive x.
struct Mantissa {
    Value f;
    Value e;       // a real number
    Value shift;   // e as an integer; without what subnormals are shifted by
    Value normal;  // x, or where x is subnormal a normal number of its sign
};
Mantissa mantissa(Value x, bool may_be_subnormal);

/// x = n pi/2 + angle + lo, |angle| <= pi/4; `quadrant` has n modulo 4 in its low bits. Exact for all x.
struct Angle {
    Value angle;
    Value lo;  // only where asked for
    Value quadrant;
};
Angle reduce_large_angle(Value x, bool with_lo);

/// Where |x| is subnormal or zero: x times a power of two, a whole number for which devices that flush do as
/// well as others. Zeros of either sign become anything.
Value scaled_subnormal(Value x);
/// The power of two in there.
inline constexpr Number subnormal_scale = {149, 1074};
/// Zero itself, on devices that flush too.
Value is_zero(Value x);

}  // namespace volley::passes::math
