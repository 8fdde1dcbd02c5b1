// The math functions of the IR as arithmetic, for f32 and f64 scalars and vectors. Both formats use the same
// algorithms with different tables and limits. docs/ir.md section 4 specifies accuracy and special values.
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

// Shared by several files.

/// An integer n, as a float and in the low bits of `packed` = 1.5 * 2^fraction + n.
struct Whole {
    Value packed;
    Value n;
};
/// Returns the integer nearest to x * factor.
Whole nearest_whole(Value x, double factor);
/// Returns 2^(n + more), which must be normal.
Value power_of_two(const Whole& n, int more);
/// Returns p * 2^n for every n with a representable result; `negative` is whether n <= 0.
Value scale(Value p, const Whole& n, Value negative);
/// Returns 2^r for |r| <= 1/2.
Value exp2_of_fraction(Value r);

/// x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for positive x.
struct Mantissa {
    Value f;
    Value e;       // as a float
    Value shift;   // e as an integer, without the scaling of subnormals
    Value normal;  // x, or a normal number with its sign if x is subnormal
};
Mantissa mantissa(Value x, bool may_be_subnormal);

/// x = n pi/2 + angle + lo, |angle| <= pi/4; `quadrant` has n modulo 4 in its low bits. Exact for all x.
struct Angle {
    Value angle;
    Value lo;  // only on request
    Value quadrant;
};
Angle reduce_large_angle(Value x, bool with_lo);

/// For subnormal x, returns x times a power of two: an integer, which also works on devices that flush
/// subnormals. The result for zeros is unspecified.
Value scaled_subnormal(Value x);
/// The exponent of that power of two.
inline constexpr Number subnormal_scale = {149, 1074};
/// Returns whether x is zero, not subnormal, also on devices that flush subnormals.
Value is_zero(Value x);

}  // namespace volley::passes::math
