// Logarithms and inverse hyperbolic functions: x = 2^e (1 + f), a polynomial in f (f32) or in f / (2 + f)
// (f64, for which the first would be too long), and e times a constant in two parts.
#include "passes/expand_math_functions.hpp"
#include "passes/math_coefficients.hpp"

namespace volley::passes::math {
namespace {

// Returns log(1 + f) - f.
Value log_minus_f(Value f) {
    if (!f.format().wide) {
        const Value z = f * f;
        return mad(z, -0.5, (f * z) * polynomial(f, log_tail));
    }
    const Value s = f / (f + 2.0);
    const Value z = s * s;
    const Value half_square = f * 0.5 * f;
    return s * mad(z, polynomial(z, log_atanh), half_square) - half_square;
}

// Returns e ln(2) + log(1 + f).
Value natural(const Mantissa& m) {
    const Value y = mad(m.e, pick(m.e, ln2.lo), log_minus_f(m.f));
    return mad(m.e, pick(m.e, ln2.hi), m.f + y);
}

// Infinity and NaN are unchanged, negative numbers become NaN, zero becomes -infinity.
Value with_edges(Value result, const Mantissa& m, Value x) {
    result = select(m.normal < infinity, result, m.normal);
    result = select(m.normal < 0.0, nan_like(x), result);
    return select(is_zero(x), -infinity, result);
}

// Decomposes 1 + x for x >= -1; adds the rounding error of the sum to f.
Mantissa mantissa_of_one_plus(Value x) {
    const Value u = x + 1.0;
    const Value lost = x - (u - 1.0);
    Mantissa m = mantissa(u, false);
    // Above 2^64 the rounding error is negligible, and 2^-e would leave the normal range.
    m.f = m.f + lost * power_of_two(-min(m.shift, 64.0));
    return m;
}

}  // namespace

Value is_zero(Value x) {
    if (x.emitter->target().keeps_subnormals) return equal(x, 0.0);
    return equal(word(x) << 1, 0.0);
}

// The bits of a subnormal number are an integer in units of the smallest one.
Value scaled_subnormal(Value x) { return convert(bitcast(x, x.format().whole), x.format().real); }

Mantissa mantissa(Value x, bool may_be_subnormal) {
    const Format& f = x.format();
    Value tiny;
    Value normal = x;
    double scale = 0;
    if (may_be_subnormal) {
        const bool keeps = x.emitter->target().keeps_subnormals;
        tiny = x < f.least;
        scale = pick(x, keeps ? Number{24, 54} : subnormal_scale);
        normal = select(tiny, keeps ? x * pick(x, {0x1p24, 0x1p54}) : scaled_subnormal(x), x);
    }
    const Value bits = bitcast(normal, f.whole);
    const std::uint64_t root_half = f.wide ? 0x3fe6a09e667f3bcdu : 0x3f3504f3u;
    const Value shift = (bits - bits.emitter->bits(bits.type(), root_half)) >> f.fraction;
    const Value m = bitcast(bits - (shift << f.fraction), f.real);
    // Converts through i32, because vectors of i32 convert efficiently.
    Value e = convert(convert(shift, ScalarType::I32), f.real);
    if (may_be_subnormal) e = select(tiny, e - scale, e);
    return {m - 1.0, e, shift, normal};
}

Value log(Value x) {
    const Mantissa m = mantissa(x, true);
    return with_edges(natural(m), m, x);
}

Value log2(Value x) {
    const Mantissa m = mantissa(x, true);
    const Value y = log_minus_f(m.f);
    // log2(e) = 1 + 0.4427: the larger part of each product is exact. Adds small terms first.
    const double rest = log2_of_e - 1;
    const Value small = mad(m.f, rest, y * rest);
    return with_edges(((small + y) + m.f) + m.e, m, x);
}

Value log10(Value x) {
    const Mantissa m = mantissa(x, true);
    const Value y = (m.f + log_minus_f(m.f)) * log10_of_e;
    const Value low = mad(m.e, pick(x, log10_of_2.lo), y);
    return with_edges(mad(m.e, pick(x, log10_of_2.hi), low), m, x);
}

Value log1p(Value x) {
    Value result = natural(mantissa_of_one_plus(x));
    result = select(x < infinity, result, x);
    result = select(x < -1.0, nan_like(x), result);
    result = select(equal(x, -1.0), -infinity, result);
    return select(equal(x, 0.0), x, result);
}

// Computes log(a + sqrt(a^2 + 1)) as log1p of its argument minus 1; log(2 a) for large a.
Value asinh(Value x) {
    const Value a = abs(x);
    const Value large = a > pick(x, {0x1p28, 0x1p60});
    const Value square = a * a;
    const Value v = select(large, a, a + square / (1.0 + sqrt(square + 1.0)));
    Mantissa m = mantissa_of_one_plus(v);
    m.e = select(large, m.e + 1.0, m.e);
    return with_sign_of(select(a < infinity, natural(m), a), x);
}

Value acosh(Value x) {
    const Value large = x > pick(x, {0x1p28, 0x1p60});
    const Value t = x - 1.0;
    Mantissa m = mantissa_of_one_plus(select(large, x, t + sqrt(t * (t + 2.0))));
    m.e = select(large, m.e + 1.0, m.e);
    const Value result = select(x < infinity, natural(m), x);
    return select(x < 1.0, nan_like(x), result);
}

Value atanh(Value x) {
    const Value a = abs(x);
    const Value result = natural(mantissa_of_one_plus((a + a) / (1.0 - a))) * 0.5;
    const Value edge = select(equal(a, 1.0), infinity_like(x), nan_like(x));
    return with_sign_of(select(a < 1.0, result, edge), x);
}

}  // namespace volley::passes::math
