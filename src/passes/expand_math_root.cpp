// Roots other than the square root.
#include "passes/expand_math_functions.hpp"

namespace volley::passes::math {
namespace {

// Subtracts a third of exponent and fraction from a constant, which is the inverse cube root within 4 %.
Value inverse_cube_root_guess(Value a) {
    const Format& f = a.format();
    const Value bits = word(a);
    Value third = (bits >> (f.width - 16)) * 21845.0;
    if (f.wide) third = third << 32;
    return real(bits.emitter->bits(bits.type(), f.wide ? 0x553ea00000000000u : 0x54a1c000u) - third);
}

}  // namespace

Value rsqrt(Value x) { return 1.0 / sqrt(x); }

// Computes z = a^(-1/3) by third-order iterations: h = 1 - a z^3, z (1 + h/3 + 2/9 h^2).
Value cbrt(Value x) {
    const Format& f = x.format();
    const bool keeps = x.emitter->target().keeps_subnormals;
    const Value magnitude = abs(x);
    const Value tiny = magnitude < f.least;
    // Scales by a power of 8, which the scaling of the root undoes.
    const Value large =
        keeps ? magnitude * pick(x, {0x1p24, 0x1p54}) : scaled_subnormal(magnitude) * pick(x, {2, 1});
    const double back = pick(x, keeps ? Number{0x1p-8, 0x1p-18} : Number{0x1p-50, 0x1p-358});
    const Value a = select(tiny, large, magnitude);
    const Value minus_a = -a;
    Value z = inverse_cube_root_guess(a);
    for (int step = 0; step < (f.wide ? 3 : 2); ++step) {
        const Value h = mad(minus_a * z, z * z, 1.0);
        z = mad(z * h, mad(h, 2.0 / 9, like(h, 1.0 / 3)), z);
    }
    const Value y = a * z * z;
    const Value h = mad(-y, z, 1.0);
    Value result = mad(y * h, 2.0 / 3, y);
    result = select(tiny, result * back, result);
    result = with_sign_of(result, x);
    // Zero, infinity and NaN are unchanged.
    const Value bits = word(magnitude);
    return select((bits - 1.0) < bits.emitter->bits(bits.type(), f.inf - 1), result, x);
}

// Scales by a power of two, so that squares neither overflow nor underflow significantly.
Value hypot(Value x, Value y) {
    const Value a = abs(x);
    const Value b = abs(y);
    const Value most = max(a, b);
    const Value large = most > pick(x, {0x1p60, 0x1p500});
    const Value small = most < pick(x, {0x1p-45, 0x1p-400});
    const auto choose = [&](Number if_large, Number if_small) {
        return select(large, pick(x, if_large), select(small, like(x, if_small), 1.0));
    };
    const Value factor = choose({0x1p-80, 0x1p-600}, {0x1p100, 0x1p680});
    const Value back = choose({0x1p80, 0x1p600}, {0x1p-100, 0x1p-680});
    const Value u = a * factor;
    const Value v = b * factor;
    const Value result = sqrt(mad(u, u, v * v)) * back;
    // If one side is infinite the result is infinite, even if the other is NaN.
    return select(equal(most, infinity), most, result);
}

}  // namespace volley::passes::math
