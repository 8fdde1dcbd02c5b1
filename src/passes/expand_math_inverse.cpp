// Inverse trigonometric functions: one odd polynomial each, on the part of the range for which a short one
// suffices.
#include "passes/expand_math_functions.hpp"
#include "passes/math_coefficients.hpp"

namespace volley::passes::math {
namespace {

// Requires |t| <= 1. This form keeps the sign of zero.
Value atan_of_fraction(Value t) {
    const Value u = t * t;
    return t * mad(u, polynomial(u, atan_tail), 1.0);
}

// Returns asin(s) for |s| <= 1/2, s^2 = z.
Value asin_of_small(Value s, Value z) { return mad(s * z, polynomial(z, asin_tail), s); }

}  // namespace

Value atan(Value x) {
    const Value steep = abs(x) > 1.0;
    const Value y = atan_of_fraction(select(steep, 1.0 / x, x));
    const Value quarter = select(x < 0.0, like(x, -pi / 2), like(x, pi / 2));
    return select(steep, quarter - y, y);
}

// Divides the smaller magnitude by the larger. One comparison selects both, so that a NaN is kept in one of
// them.
Value atan2(Value y, Value x) {
    Value a = abs(x);
    Value b = abs(y);
    if (!x.emitter->target().keeps_subnormals) {
        const Value tiny = (a < x.format().least) & (b < x.format().least);
        a = select(tiny, scaled_subnormal(a), a);
        b = select(tiny, scaled_subnormal(b), b);
    }
    const Value steep = b > a;
    const Value small = select(steep, a, b);
    const Value large = select(steep, b, a);
    // The quotient of two infinities or two zeros would be NaN.
    Value t = select(equal(a, b), 1.0, small / large);
    t = select(equal(large, 0.0), small, t);
    Value angle = atan_of_fraction(t);
    angle = select(steep, pi / 2 - angle, angle);
    const Value left = bitcast(x, x.format().whole) < 0.0;
    return with_sign_of(select(left, pi - angle, angle), y);
}

// For |x| > 1/2: asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)). For |x| > 1 the root is NaN.
Value asin(Value x) {
    const Value a = abs(x);
    const Value large = a > 0.5;
    const Value z = select(large, (1.0 - a) * 0.5, a * a);
    const Value p = asin_of_small(select(large, sqrt(z), a), z);
    const Value rest = pick(x, half_pi.hi) - ((p + p) - pick(x, half_pi.lo));
    return with_sign_of(select(large, rest, p), x);
}

Value acos(Value x) {
    const Value a = abs(x);
    const Value large = a > 0.5;
    const Value z = select(large, (1.0 - a) * 0.5, x * x);
    const Value p = asin_of_small(select(large, sqrt(z), x), z);
    const Value twice = p + p;
    const Value far = select(x < 0.0, 2 * pick(x, half_pi.hi) - (twice - 2 * pick(x, half_pi.lo)), twice);
    return select(large, far, pick(x, half_pi.hi) - (p - pick(x, half_pi.lo)));
}

}  // namespace volley::passes::math
