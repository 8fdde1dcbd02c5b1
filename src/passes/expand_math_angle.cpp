// Reduces huge arguments: x = m 2^k with an integer m, so only the bits of 2/pi whose product with x is below
// 4 matter. The product of m and a window of these bits, in fixed point modulo 4, is the quadrant and the
// fraction of a quadrant, with more bits than any argument can cancel.
#include "passes/expand_math_functions.hpp"
#include "passes/math_coefficients.hpp"

#include <vector>

namespace volley::passes::math {
namespace {

// Returns `count` words of 2/pi, starting at bit `offset`. Shifts the words by powers of two instead of
// indexing them, which takes a few selects between constants.
std::vector<Value> window(Value offset, std::size_t count, int levels) {
    Emitter& e = *offset.emitter;
    const std::size_t most = count + 1;
    std::vector<Value> words;
    for (std::size_t i = 0; i < most + (std::size_t{1} << levels) - 1; ++i) {
        words.push_back(e.bits(offset.type(), two_over_pi_words[i]));
    }
    for (int level = levels - 1; level >= 0; --level) {
        const std::size_t step = std::size_t{1} << level;
        const Value moves = differ(offset & (32u << level), e.bits(offset.type(), 0));
        std::vector<Value> moved;
        for (std::size_t i = 0; i + step < words.size(); ++i) {
            moved.push_back(select(moves, words[i + step], words[i]));
        }
        words = std::move(moved);
    }
    // The right shift takes two steps, because a shift by 32 would not shift at all.
    const Value left = offset & 31u;
    const Value right = left ^ 31u;
    std::vector<Value> result;
    for (std::size_t i = 0; i < count; ++i) {
        result.push_back((words[i] << left) | ((words[i + 1] >> 1) >> right));
    }
    return result;
}

struct WidePair {
    Value hi;
    Value lo;
};

// Returns the full product u32 * u32; in 16-bit halves if there are no 64-bit integers.
WidePair multiply(Value a, Value b) {
    if (a.emitter->target().i64) {
        const Value p = convert(a, ScalarType::U64) * convert(b, ScalarType::U64);
        return {convert(p >> 32, ScalarType::U32), convert(p, ScalarType::U32)};
    }
    const Value a_hi = a >> 16;
    const Value a_lo = a & 0xffffu;
    const Value b_hi = b >> 16;
    const Value b_lo = b & 0xffffu;
    const Value middle = a_hi * b_lo + ((a_lo * b_lo) >> 16);
    const Value other = a_lo * b_hi + (middle & 0xffffu);
    return {a_hi * b_hi + (middle >> 16) + (other >> 16), a * b};
}

// Returns the upper two words (of the format's width) of m * window modulo 2^(length of the window).
WidePair product_f32(Value m, Value offset) {
    const std::vector<Value> w = window(offset, 3, 3);
    const WidePair middle = multiply(m, w[1]);
    const Value lo = middle.lo + multiply(m, w[2]).hi;
    const Value carry = select(lo < middle.lo, like(lo, 1), 0.0);
    return {m * w[0] + middle.hi + carry, lo};
}

WidePair product_f64(Value m, Value offset) {
    const std::vector<Value> w = window(offset, 6, 5);
    const Value m_hi = m >> 32;
    const Value m_lo = m & 0xffffffffu;
    // Computes columns of 32 bits, lowest first; the carry goes to the next column. The first column is
    // dropped: it lacks the carry of the digits below the window.
    std::vector<Value> columns;
    Value above;
    Value by_hi;
    for (int i = 5; i >= 0; --i) {
        const Value digit = convert(w[static_cast<std::size_t>(i)], ScalarType::U64);
        const Value by_lo = m_lo * digit;
        const Value low = by_lo & 0xffffffffu;
        if (i == 5) {
            above = by_lo >> 32;
            by_hi = m_hi * digit;
            continue;
        }
        const Value sum = low + above + (by_hi & 0xffffffffu);
        columns.push_back(sum & 0xffffffffu);
        above = (sum >> 32) + (by_lo >> 32) + (by_hi >> 32);
        by_hi = m_hi * digit;
    }
    return {(columns[4] << 32) | columns[3], (columns[2] << 32) | columns[1]};
}

}  // namespace

Angle reduce_large_angle(Value x, bool with_lo) {
    const Format& f = x.format();
    Emitter& e = *x.emitter;
    const Value magnitude = abs(x);
    const Value bits = word(magnitude);
    const std::uint64_t implicit = std::uint64_t{1} << f.fraction;
    const Value m = (bits & (implicit - 1)) | implicit;
    // The window starts at the bit with weight 2.
    const Value exponent = convert(bits >> f.fraction, ScalarType::U32);
    const Value offset = exponent - (f.bias + f.fraction + 2 - two_over_pi_zeros);
    const WidePair p = f.wide ? product_f64(m, offset) : product_f32(m, offset);

    // The quadrant has two bits; the fraction is relative to the nearest quadrant, so it is signed.
    const Value quadrant = (p.hi + e.bits(p.hi.type(), std::uint64_t{1} << (f.width - 3))) >> (f.width - 2);
    const Value hi = (p.hi << 2) | (p.lo >> (f.width - 2));
    const Value lo = p.lo << 2;
    const Value flip = bitcast(bitcast(hi, f.whole) >> (f.width - 1), f.word);
    // `flip` is all ones for a negative fraction; the complement equals the magnitude up to the last bit.
    const Value hi_plus = hi ^ flip;
    const Value lo_plus = lo ^ flip;
    const Value zeros = clz(hi_plus);
    const Value rest = e.bits(zeros.type(), static_cast<std::uint64_t>(f.width - 1)) - zeros;
    const Value top = (hi_plus << zeros) | ((lo_plus >> 1) >> rest);
    const Value next = lo_plus << zeros;

    // Two integers with the format's precision p, in units of 2^-p and 2^-2p times 2^-zeros quadrants.
    const int precision = f.fraction + 1;
    const int spare = f.width - precision;
    const double unit = f.wide ? 0x1p-53 : 0x1p-24;
    const Value first = convert(top >> spare, f.real) * unit;
    const Value second = convert(((top << precision) | (next >> spare)) >> spare, f.real) * (unit * unit);
    Pair angle = two_product(first, like(x, half_pi.hi));
    angle = quick_two_sum(angle.hi, angle.lo + mad(first, pick(x, half_pi.lo), second * pick(x, half_pi.hi)));

    // Applies the signs of the fraction and of x; the result for infinity is NaN.
    const Value sign = (flip ^ word(x)) & f.sign;
    const Value power = word(power_of_two(-bitcast(zeros, f.whole)));
    const Value factor = select(magnitude < infinity_like(x), real(power | sign), nan_like(x));
    const Value minus = bitcast(bitcast(x, f.whole) >> (f.width - 1), f.word);
    const Value turned = (quadrant ^ minus) - minus;
    return {angle.hi * factor, with_lo ? angle.lo * factor : Value{}, turned};
}

}  // namespace volley::passes::math
