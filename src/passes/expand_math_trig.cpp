// sin, cos, tan: subtracts a multiple of pi/2 from the argument, by products that are exact for small
// multiples, otherwise in integers (expand_math_angle.cpp) in a branch that is rarely taken.
#include "passes/expand_math_functions.hpp"
#include "passes/math_coefficients.hpp"

namespace volley::passes::math {
namespace {

Angle reduce_fused(Value x, const Whole& n, bool with_lo) {
    const auto part = [&](int k) { return -pick(x, half_pi_fused[k]); };
    const Value first = mad(n.n, part(0), x);  // exact
    if (!with_lo) return {mad(n.n, part(2), mad(n.n, part(1), first)), {}, word(n.packed)};
    const Pair product = two_product(n.n, like(x, part(1)));
    const Pair sum = quick_two_sum(first, product.hi);
    return {sum.hi, mad(n.n, part(2), sum.lo + product.lo), word(n.packed)};
}

// Products with the short parts are exact, as are the first two differences.
Angle reduce_plain(Value x, const Whole& n, bool with_lo) {
    const auto product = [&](int k) { return n.n * pick(x, half_pi_plain[k]); };
    const Value second = (x - product(0)) - product(1);
    const Value third_product = product(2);
    const Value angle = second - third_product;
    const Value lo = (((second - angle) - third_product) - product(3)) - product(4);
    if (!with_lo) return {angle + lo, {}, word(n.packed)};
    const Pair sum = quick_two_sum(angle, lo);
    return {sum.hi, sum.lo, word(n.packed)};
}

Angle reduce(Value x, bool with_lo) {
    Emitter& e = *x.emitter;
    const bool fused = e.target().fused_fma;
    const Whole n = nearest_whole(x, two_over_pi);
    const Angle fast = fused ? reduce_fused(x, n, with_lo) : reduce_plain(x, n, with_lo);
    const Value large = abs(x) > (fused ? pick(x, {0x1p17, 0x1p30}) : pick(x, {0x1p12, 0x1p20}));
    const Value angle = e.variable(fast.angle);
    const Value quadrant = e.variable(fast.quadrant);
    const Value lo = with_lo ? e.variable(fast.lo) : Value{};
    e.when(any(large), [&] {
        const Angle slow = reduce_large_angle(x, with_lo);
        e.assign(angle, select(large, slow.angle, fast.angle));
        e.assign(quadrant, select(large, slow.quadrant, fast.quadrant));
        if (with_lo) e.assign(lo, select(large, slow.lo, fast.lo));
    });
    return {e.read(angle), with_lo ? e.read(lo) : Value{}, e.read(quadrant)};
}

struct SinCos {
    Value sin;
    Value cos;
};

// Adds lo before the last rounding.
SinCos sin_cos_of(Value r, Value lo) {
    const Value u = r * r;
    const Value sin_rest = r * u;
    const Value cos_rest = mad(u, polynomial(u, cos_tail), -0.5);
    const Value p = polynomial(u, sin_tail);
    if (lo.emitter == nullptr) return {mad(sin_rest, p, r), mad(u, cos_rest, 1.0)};
    const Value cos = 1.0 + (u * cos_rest - lo * r);
    return {r + mad(sin_rest, p, lo * cos), cos};
}

// Reuses earlier results, because kernels often need both sin and cos of an angle.
Emitter::Known sin_cos_quadrant(Value x) {
    if (const Emitter::Known* const known = x.emitter->recall(x)) return *known;
    const Angle a = reduce(x, false);
    const SinCos of = sin_cos_of(a.angle, {});
    const Emitter::Known result = {of.sin, of.cos, a.quadrant};
    x.emitter->remember(x, result);
    return result;
}

Value sin_or_cos(Value x, bool is_cos) {
    const auto [sin, cos, at] = sin_cos_quadrant(x);
    const Value quadrant = is_cos ? at + 1.0 : at;
    const Value odd = equal(quadrant & 1u, 1.0);
    // Quadrants 2 and 3 change the sign: shifts bit 1 to the sign bit.
    const Value sign = (quadrant & 2u) << (x.format().width - 2);
    return real(word(select(odd, cos, sin)) ^ sign);
}

}  // namespace

// Returns x for zeros, because the sums lose the sign of zero.
Value sin(Value x) { return select(equal(x, 0.0), x, sin_or_cos(x, false)); }

Value cos(Value x) { return sin_or_cos(x, true); }

Value tan(Value x) {
    const Angle a = reduce(x, true);
    const SinCos of = sin_cos_of(a.angle, a.lo);
    const Value odd = equal(a.quadrant & 1u, 1.0);
    const Value ratio = select(odd, of.cos, of.sin) / select(odd, of.sin, of.cos);
    const Value result = real(word(ratio) ^ (a.quadrant << (x.format().width - 1)));
    return select(equal(x, 0.0), x, result);
}

}  // namespace volley::passes::math
