// pow: 2^(y log2(x)). The logarithm and the product are pairs, because errors of the exponent grow with its
// magnitude.
#include "passes/expand_math_functions.hpp"
#include "passes/math_coefficients.hpp"

namespace volley::passes::math {
namespace {

// y log2(x) as an integer and a fraction; hi is their sum, for range checks.
struct Exponent {
    Value hi;
    Whole whole;
    Value fraction;
};

// Returns log2 of a positive number with about 10 bits more than the format: 2 / ln(2) atanh(s) + e for s = f
// / (2 + f); the terms 1 + z / 3 of the series are computed in pairs.
Pair log2_pair(Value x) {
    const Mantissa m = mantissa(x, true);
    // 2 + f is exact, and one division is enough: its remainder is multiplied by the same inverse.
    const Value d = m.f + 2.0;
    const Value d_lo = m.f - (d - 2.0);
    const Value inverse = 1.0 / d;
    const Value s_hi = m.f * inverse;
    const Pair product = two_product(s_hi, d);
    const Value lacks = ((m.f - product.hi) - product.lo) - s_hi * d_lo;
    const Pair s = {s_hi, lacks * inverse};

    const Pair square = two_product(s.hi, s.hi);
    const Pair z = {square.hi, mad(s.hi + s.hi, s.lo, square.lo)};
    const Value tail = z.hi * polynomial(z.hi, atanh_tail);
    Pair a = quick_two_sum(like(x, third.hi), tail);
    a.lo = a.lo + pick(x, third.lo);
    const Pair b = z * a;
    Pair c = quick_two_sum(like(x, 1), b.hi);
    c.lo = c.lo + b.lo;
    const Pair log = (s * c) * like(x, two_over_ln2);
    // |log| <= 1/2, so e is the larger unless it is zero.
    const Pair sum = quick_two_sum(m.e, log.hi);
    return {sum.hi, sum.lo + log.lo};
}

// Replaces the logarithms of zero, infinity and NaN.
Value with_edges(Value log, Value a, Value a_as_log) {
    return select(is_zero(a), -infinity, select(a < infinity, log, a_as_log));
}

Exponent exponent_in_pairs(Value a, Value y) {
    Pair l = log2_pair(a);
    l.hi = with_edges(l.hi, a, a);
    const Pair t = two_product(y, l.hi);
    const Whole n = nearest_whole(t.hi, 1);
    return {t.hi, n, (t.hi - n.n) + mad(y, l.lo, t.lo)};
}

// Computes the exponent for f32 in f64, where a few operations replace the pairs.
Exponent exponent_in_f64(Value a, Value y) {
    const Mantissa m = mantissa(a, true);
    const Value f = convert(m.f, ScalarType::F64);
    const Value s = f / (f + 2.0);
    const Value z = s * s;
    const Value p = mad(z, polynomial(z, {atanh_tail.f32, atanh_tail.f32}), 1.0 / 3);
    const Value log = mad(s * two_over_ln2.hi.f64, mad(z, p, 1.0), convert(m.e, ScalarType::F64));
    const Value t = convert(y, ScalarType::F64) * with_edges(log, a, convert(a, ScalarType::F64));
    const Value hi = convert(t, ScalarType::F32);
    const Whole n = nearest_whole(hi, 1);
    return {hi, n, convert(t - convert(n.n, ScalarType::F64), ScalarType::F32)};
}

// Tests the sign bit, because comparisons may treat subnormal numbers as zeros.
Value is_negative(Value x) {
    if (x.emitter->target().keeps_subnormals) return x < 0.0;
    return (bitcast(x, x.format().whole) < 0.0) & !is_zero(x);
}

// Returns 2 to that power, with overflow and underflow.
Value power(const Exponent& e) {
    const Value result = scale(exp2_of_fraction(e.fraction), e.whole, e.hi < 0.0);
    const Value above = e.hi > pick(e.hi, {129, 1025});
    const Value below = e.hi < pick(e.hi, {-151, -1076});
    return select(above, infinity, select(below, 0.0, result));
}

}  // namespace

Value pow(Value x, Value y) {
    const Format& f = x.format();
    const Value a = abs(x);
    // Larger exponents do not change the result unless x is 1, whose logarithm 0 times infinity would be NaN.
    const double huge = f.wide ? 0x1p64 : 0x1p33;
    const Value exponent = select(y > huge, huge, select(y < -huge, -huge, y));
    const MathTarget& target = x.emitter->target();
    const bool in_f64 = !f.wide && target.f64 && target.fast_f64;
    Value result = power(in_f64 ? exponent_in_f64(a, exponent) : exponent_in_pairs(a, exponent));

    const Value whole = equal(trunc(y), y);
    const Value half = y * 0.5;
    const Value odd = whole & differ(trunc(half), half);
    const Value sign = select(odd, word(x) & f.sign, 0.0);
    result = real(word(result) | sign);
    const Value no_root = (is_negative(x) & (x > -infinity)) & !whole;
    result = select(no_root, nan_like(x), result);
    return select(equal(y, 0.0) | equal(x, 1.0), 1.0, result);
}

}  // namespace volley::passes::math
