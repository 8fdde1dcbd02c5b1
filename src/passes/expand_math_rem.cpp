// Computes C's fmod exactly: a small quotient takes one division and a corrected product; larger ones use
// integer division, a few bits of the quotient at a time.
#include "passes/expand_math_functions.hpp"

namespace volley::passes::math {
namespace {

// Returns a - q b, where q is an integer below 2^20 nearest to a / b; corrects q if it is off by one.
Value remainder_of_small(Value a, Value b) {
    const Value q = trunc(a / b);
    Value r;
    if (a.emitter->target().fused_fma) {
        r = mad(-q, b, a);
    } else {
        const Pair product = two_product(q, b);
        r = (a - product.hi) - product.lo;
    }
    r = select(r < 0.0, r + b, r);
    return select(r >= b, r - b, r);
}

struct Integer {
    Value m;  // the highest bit is at the position of the format's implicit one
    Value e;  // biased exponent, i32; zero or less for subnormal numbers
};

Integer integer(Value a) {
    const Format& f = a.format();
    const Value bits = word(a);
    const std::uint64_t implicit = std::uint64_t{1} << f.fraction;
    const Value fraction = bits & (implicit - 1);
    const Value exponent = convert(bits >> f.fraction, ScalarType::I32);
    const Value subnormal = equal(exponent, 0.0);
    const Value shift = clz(fraction) - (f.width - 1 - f.fraction);
    return {select(subnormal, fraction << shift, fraction | implicit),
            select(subnormal, 1.0 - convert(shift, ScalarType::I32), exponent)};
}

Value real_of(Value m, Value e) {
    const Format& f = m.format();
    const Value shift = clz(m) - (f.width - 1 - f.fraction);
    const Value normal = m << shift;
    const Value exponent = e - convert(shift, ScalarType::I32);
    const std::uint64_t implicit = std::uint64_t{1} << f.fraction;
    const Value biased = convert(max(exponent, 0.0), f.word) << f.fraction;
    const Value as_normal = (normal & (implicit - 1)) | biased;
    // No bits are lost: a remainder is a multiple of the divisor's last bit.
    const Value right = convert(max(1.0 - exponent, 0.0), f.word);
    const Value as_subnormal = normal >> right;
    const Value bits = select(exponent > 0.0, as_normal, as_subnormal);
    return real(select(equal(m, 0.0), m, bits));
}

Value remainder_of_large(Value a, Value b) {
    Emitter& e = *a.emitter;
    const int step = a.format().wide ? 11 : 8;  // integer bits above the format's precision
    const Integer x = integer(a);
    const Integer y = integer(b);
    const auto modulo = [&](Value v) { return e.emit(ir::Op::Rem, v.type(), {v, y.m}); };
    const Value rest = e.variable(modulo(x.m));
    const Value left = e.variable(x.e - y.e);
    const Value count = (e.read(left) + (step - 1)) / like(x.e, step);
    e.repeat(count, [&](Value) {
        const Value n = e.read(left);
        const Value bits = min(n, step);
        e.assign(rest, modulo(e.read(rest) << convert(bits, y.m.type().scalar())));
        e.assign(left, n - bits);
    });
    return real_of(e.read(rest), y.e);
}

}  // namespace

Value rem(Value x, Value y) {
    Emitter& e = *x.emitter;
    const Value a = abs(x);
    const Value b = abs(y);
    const Value inside = (a < infinity) & (b > 0.0);
    // With smaller divisors parts of the products could underflow.
    const Value near = (a < b * 0x1p20) & (b > pick(x, {0x1p-90, 0x1p-900}));
    const Value result = e.variable(remainder_of_small(a, b));
    e.when((inside & !near) & (a >= b), [&] { e.assign(result, remainder_of_large(a, b)); });
    const Value reached = select(a < b, a, e.read(result));
    return select(inside, with_sign_of(reached, x), nan_like(x));
}

}  // namespace volley::passes::math
