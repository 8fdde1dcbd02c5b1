// Exponential and hyperbolic functions: x = n ln(b) + r, a polynomial in r, and 2^n built from exponent bits.
// Out-of-range arguments produce meaningless values, which the final selects replace.
#include "passes/expand_math_functions.hpp"
#include "passes/math_coefficients.hpp"

namespace volley::passes::math {
namespace {

// The largest arguments with finite sinh and cosh.
constexpr Number largest_sinh = {0x1.65a9f8p+6, 0x1.633ce8fb9f87dp+9};

// Returns x - n * unit, with the unit in two parts; the first product is exact.
Value less(Value x, Value n, const SplitNumber& unit) {
    return mad(n, -pick(x, unit.lo), mad(n, -pick(x, unit.hi), x));
}

struct Reduced {
    Whole n;
    Value r;      // |r| <= ln(2) / 2
    Value minus;  // e^r - 1
};

Reduced reduce(Value x) {
    const Whole n = nearest_whole(x, log2_of_e);
    const Value r = less(x, n.n, ln2);
    return {n, r, mad(r * r, polynomial(r, exp_tail), r)};
}

// Returns (e^r - 1) + (1 - 2^-n), which times 2^n is e^x - 1. For large x the power 2^-n is negligible.
Value minus_one(const Reduced& e, Value x, bool may_be_large) {
    const Format& f = x.format();
    const Value power =
        real(x.emitter->bits(x.type().with_scalar(f.word), f.one) - (word(e.n.packed) << f.fraction));
    Value rest = 1.0 - power;
    if (may_be_large) rest = select(x > pick(x, {40, 100}), 1.0, rest);
    return e.minus + rest;
}

Value limited(Value result, Value x, double low, double at_low, double high) {
    return select(x < low, at_low, select(x > high, infinity, result));
}

}  // namespace

Whole nearest_whole(Value x, double factor) {
    const double rounding = x.format().rounding;
    const Value packed = factor == 1 ? x + rounding : mad(x, factor, like(x, rounding));
    return {packed, packed - rounding};
}

Value power_of_two(const Whole& n, int more) {
    const Format& f = n.packed.format();
    const Value bits = word(n.packed) << f.fraction;
    const auto bias = static_cast<std::uint64_t>(f.bias + more) << f.fraction;
    return real(bits + bits.emitter->bits(bits.type(), bias));
}

// Uses two factors, because 2^n itself may be outside the normal range; the second depends only on the sign
// of n.
Value scale(Value p, const Whole& n, Value negative) {
    const Format& f = p.format();
    const int half = f.wide ? 512 : 64;
    const Value bits = word(n.packed) << f.fraction;
    const auto bias = [&](int more) {
        return bits.emitter->bits(bits.type(), static_cast<std::uint64_t>(f.bias + more) << f.fraction);
    };
    const Value first = real(bits + select(negative, bias(half), bias(-half)));
    const double second = f.wide ? 0x1p-512 : 0x1p-64;
    return p * first * select(negative, like(p, second), like(p, 1 / second));
}

Value exp2_of_fraction(Value r) { return mad(r, polynomial(r, exp2_slope), 1.0); }

Value exp(Value x) {
    const Reduced e = reduce(x);
    const Value result = scale(1.0 + e.minus, e.n, x < 0.0);
    return limited(result, x, pick(x, {-104, -746}), 0, pick(x, {89, 710}));
}

Value exp2(Value x) {
    const Whole n = nearest_whole(x, 1);
    const Value result = scale(exp2_of_fraction(x - n.n), n, x < 0.0);
    return limited(result, x, pick(x, {-151, -1076}), 0, pick(x, {128.25, 1024.25}));
}

Value exp10(Value x) {
    const Whole n = nearest_whole(x, log2_of_10);
    const Value r = less(x, n.n, log10_of_2);
    const Value result = scale(mad(r, polynomial(r, exp10_slope), 1.0), n, x < 0.0);
    return limited(result, x, pick(x, {-45.5, -324}), 0, pick(x, {38.6, 308.4}));
}

Value expm1(Value x) {
    const Reduced e = reduce(x);
    const Value rest = minus_one(e, x, true);
    // Doubles the sum and halves the power, so that the power is in range whenever the result is.
    Value result = (rest + rest) * power_of_two(e.n, -1);
    result = limited(result, x, pick(x, {-18, -38}), -1, pick(x, {88.8, 709.8}));
    return select(equal(x, 0.0), x, result);
}

Value sinh(Value x) {
    const Value a = abs(x);
    const Reduced e = reduce(a);
    const Value rest = minus_one(e, a, true);
    // h = (e^a - 1) / 2, and sinh(a) = h + h / (2 h + 1).
    const Value h = (rest + rest) * power_of_two(e.n, -2);
    Value result = h + h / mad(h, 2.0, like(h, 1));
    result = select(a > pick(x, largest_sinh), infinity, result);
    result = select(a < pick(x, {0x1p-13, 0x1p-27}), a, result);
    return with_sign_of(result, x);
}

Value cosh(Value x) {
    const Value a = abs(x);
    const Reduced e = reduce(a);
    const Value p = 1.0 + e.minus;
    const Value h = (p + p) * power_of_two(e.n, -2);
    return select(a > pick(x, largest_sinh), infinity, h + 0.25 / h);
}

Value tanh(Value x) {
    const Value a = abs(x);
    const Value twice = a + a;
    const Reduced e = reduce(twice);
    const Value minus = minus_one(e, twice, false) * power_of_two(e.n, 0);
    const Value result = select(a > pick(x, {9.2, 19.5}), 1.0, minus / (minus + 2.0));
    return with_sign_of(result, x);
}

}  // namespace volley::passes::math
