// The rules of lane arithmetic. A rule calls may_wrap if it requires that nothing wraps within a vector, and
// is_aligned if it requires that a vector lies between two multiples of its span.
#include "passes/lane_value.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace volley::passes {
namespace {

using ir::Op;

constexpr std::int64_t max_i64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t min_i64 = std::numeric_limits<std::int64_t>::min();
// Larger strides are useless, and with this limit products of strides cannot overflow.
constexpr std::int64_t max_stride = std::int64_t{1} << 31;

struct LaneInterval {
    bool bounded = false;
    std::int64_t lo = 0;
    std::int64_t hi = 0;
};

LaneInterval range_of(const LaneValue& v) { return {v.bounded, v.lo, v.hi}; }

LaneInterval range_of(ScalarType type) {
    if (!is_integer(type)) return {};
    const unsigned bits = bits_of(type);
    if (bits == 64) return {};
    if (is_signed_integer(type))
        return {true, -(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
    return {true, 0, (std::int64_t{1} << bits) - 1};
}

bool fits(ScalarType type, const LaneInterval& r) {
    if (!r.bounded) return false;
    if (type == ScalarType::I64) return true;
    if (type == ScalarType::U64) return r.lo >= 0;
    const LaneInterval limits = range_of(type);
    return r.lo >= limits.lo && r.hi <= limits.hi;
}

std::uint64_t power_of_two_in(std::uint64_t factor, ScalarType type) {
    // A multiple of 2^bits is 0 when it is truncated to the type, so 2^(bits - 1) is the largest useful
    // factor.
    const std::uint64_t most = std::uint64_t{1} << (bits_of(type) - 1);
    if (factor == 0) return most;
    return std::min(factor & (0 - factor), most);
}

bool divides(std::uint64_t factor, std::uint64_t value) { return factor != 0 && value % factor == 0; }

// Converts a computed shape to a type: a base that may have wrapped keeps only factors of two.
LaneValue settle(ScalarType type, LaneShape shape, const LaneInterval& range) {
    if (shape.stride == 0 && shape.kind == LaneShape::Affine) shape.kind = LaneShape::Uniform;
    if (shape.kind == LaneShape::Affine &&
        (bits_of(type) < 32 || shape.stride > max_stride || shape.stride < -max_stride)) {
        return varying_value();
    }
    LaneValue v;
    v.shape = shape;
    LaneInterval r = range;
    if (!fits(type, r)) {
        r = range_of(type);
        v.shape.align = power_of_two_in(shape.align, type);
    }
    if (r.bounded && r.lo == 0 && r.hi == 0) v.shape.align = 0;
    if (v.shape.align == 0 && !(r.bounded && r.lo == 0 && r.hi == 0)) r = {true, 0, 0};
    v.bounded = r.bounded;
    v.lo = r.lo;
    v.hi = r.hi;
    return v;
}

LaneInterval sum(const LaneInterval& a, const LaneInterval& b) {
    LaneInterval r{a.bounded && b.bounded, 0, 0};
    if (!r.bounded) return r;
    r.bounded = !__builtin_add_overflow(a.lo, b.lo, &r.lo) && !__builtin_add_overflow(a.hi, b.hi, &r.hi);
    return r;
}

LaneInterval negated(const LaneInterval& a) {
    if (!a.bounded || a.lo == min_i64) return {};
    return {true, -a.hi, -a.lo};
}

LaneInterval product(const LaneInterval& a, const LaneInterval& b) {
    if (!a.bounded || !b.bounded) return {};
    std::int64_t p[4];
    if (__builtin_mul_overflow(a.lo, b.lo, &p[0]) || __builtin_mul_overflow(a.lo, b.hi, &p[1]) ||
        __builtin_mul_overflow(a.hi, b.lo, &p[2]) || __builtin_mul_overflow(a.hi, b.hi, &p[3])) {
        return {};
    }
    const auto [lo, hi] = std::minmax_element(p, p + 4);
    return {true, *lo, *hi};
}

std::uint64_t align_product(std::uint64_t a, std::uint64_t b) {
    std::uint64_t p = 0;
    if (!__builtin_mul_overflow(a, b, &p)) return p;
    return std::uint64_t{1} << std::min(63, std::countr_zero(a) + std::countr_zero(b));
}

// Returns whether size is a power of two that divides 2^bits.
bool is_block(ScalarType type, std::uint64_t size) {
    return std::has_single_bit(size) && (bits_of(type) == 64 || size <= std::uint64_t{1} << bits_of(type));
}

bool is_constant(const LaneValue& v) { return v.uniform() && v.bounded && v.lo == v.hi; }

// Returns the constant as a factor of a stride, modulo 2^bits: 0xffffffff becomes -1.
std::int64_t wrapped(ScalarType type, std::int64_t value) {
    const unsigned unused = 64 - bits_of(type);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << unused) >> unused;
}

LaneShape::Kind both(const LaneValue& a, const LaneValue& b) {
    if (a.varying() || b.varying()) return LaneShape::Varying;
    return a.affine() || b.affine() ? LaneShape::Affine : LaneShape::Uniform;
}

}  // namespace

LaneValue varying_value() { return {}; }

LaneValue plain_value(ScalarType type, bool uniform) {
    LaneValue v;
    v.shape.kind = uniform ? LaneShape::Uniform : LaneShape::Varying;
    if (!uniform) return v;
    const LaneInterval r = range_of(type);
    v.bounded = r.bounded;
    v.lo = r.lo;
    v.hi = r.hi;
    return v;
}

LaneValue constant_value(std::int64_t value) {
    const std::uint64_t magnitude =
        value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    return {{LaneShape::Uniform, 0, magnitude}, true, value, value};
}

LaneValue id_value(LaneShape shape, std::uint64_t max) {
    return settle(ScalarType::U32, shape,
                  {true, 0, static_cast<std::int64_t>(std::min<std::uint64_t>(max, 0xffffffff))});
}

LaneValue join(const LaneValue& a, const LaneValue& b) {
    if (a.varying() || b.varying() || a.shape.kind != b.shape.kind || a.shape.stride != b.shape.stride) {
        return varying_value();
    }
    LaneValue v;
    v.shape = {a.shape.kind, a.shape.stride, std::gcd(a.shape.align, b.shape.align)};
    v.bounded = a.bounded && b.bounded;
    if (v.bounded) {
        v.lo = std::min(a.lo, b.lo);
        v.hi = std::max(a.hi, b.hi);
    }
    return v;
}

bool LaneArithmetic::may_wrap(ScalarType type, const LaneValue& a) const {
    if (!a.affine()) return false;
    // Nothing wraps between multiples of a power of two that divides 2^bits.
    if (a.shape.stride > 0) {
        const std::uint64_t block = std::bit_ceil(static_cast<std::uint64_t>(span(a)));
        if (is_block(type, block) && divides(block, a.shape.align)) return false;
    }
    const std::int64_t reach = a.shape.stride * static_cast<std::int64_t>(width_ - 1);
    const LaneInterval lanes = {true, std::min<std::int64_t>(reach, 0), std::max<std::int64_t>(reach, 0)};
    return !fits(type, sum(range_of(a), lanes));
}

// Returns whether the lanes are in [base, base + span) with base a multiple of span.
bool LaneArithmetic::is_aligned(ScalarType type, const LaneValue& a) const {
    if (!a.affine() || a.shape.stride <= 0) return false;
    const auto reach = static_cast<std::uint64_t>(span(a));
    return divides(reach, a.shape.align) && (is_block(type, reach) || !may_wrap(type, a));
}

LaneValue LaneArithmetic::add(ScalarType type, const LaneValue& a, const LaneValue& b) const {
    const LaneShape::Kind kind = both(a, b);
    if (kind == LaneShape::Varying) return varying_value();
    return settle(type, {kind, a.shape.stride + b.shape.stride, std::gcd(a.shape.align, b.shape.align)},
                  sum(range_of(a), range_of(b)));
}

LaneValue LaneArithmetic::subtract(ScalarType type, const LaneValue& a, const LaneValue& b) const {
    const LaneShape::Kind kind = both(a, b);
    if (kind == LaneShape::Varying) return varying_value();
    return settle(type, {kind, a.shape.stride - b.shape.stride, std::gcd(a.shape.align, b.shape.align)},
                  sum(range_of(a), negated(range_of(b))));
}

LaneValue LaneArithmetic::multiply(ScalarType type, const LaneValue& a, const LaneValue& b) const {
    const LaneShape::Kind kind = both(a, b);
    if (kind == LaneShape::Varying) return varying_value();
    std::int64_t stride = 0;
    if (kind == LaneShape::Affine) {
        const LaneValue& factor = a.affine() ? b : a;
        if (!is_constant(factor)) return varying_value();
        if (__builtin_mul_overflow((a.affine() ? a : b).shape.stride, wrapped(type, factor.lo), &stride)) {
            return varying_value();
        }
    }
    return settle(type, {kind, stride, align_product(a.shape.align, b.shape.align)},
                  product(range_of(a), range_of(b)));
}

// Returns a / by for by > 0; `floor` selects the shift of signed integers, which rounds down.
LaneValue LaneArithmetic::divide(ScalarType type, const LaneValue& a, std::int64_t by, bool floor) const {
    if (a.varying()) return varying_value();
    const auto divisor = static_cast<std::uint64_t>(by);
    const bool exact = divides(divisor, a.shape.align);
    const std::uint64_t align = exact ? a.shape.align / divisor : 1;
    LaneInterval range = range_of(a);
    if (range.bounded)
        range = {true,
                 range.lo >= 0 ? range.lo / by
                 : floor       ? (range.lo + 1) / by - 1
                               : range.lo / by,
                 range.hi >= 0 || !floor ? range.hi / by : (range.hi + 1) / by - 1};
    if (a.uniform()) return settle(type, {LaneShape::Uniform, 0, align}, range);

    const bool not_negative = is_unsigned_integer(type) || (a.bounded && a.lo >= 0 && a.shape.stride > 0);
    const bool rounds_down = floor || not_negative;
    // All lanes have the same quotient: they are between two multiples of the divisor.
    if (rounds_down && is_aligned(type, a) && divides(static_cast<std::uint64_t>(span(a)), divisor)) {
        return settle(type, {LaneShape::Uniform, 0, align}, range);
    }
    // The stride is a multiple of the divisor.
    if (a.shape.stride % by == 0 && (exact || rounds_down) && !may_wrap(type, a)) {
        return settle(type, {LaneShape::Affine, a.shape.stride / by, align}, range);
    }
    return varying_value();
}

LaneValue LaneArithmetic::remainder(ScalarType type, const LaneValue& a, std::int64_t by) const {
    if (a.varying()) return varying_value();
    const auto divisor = static_cast<std::uint64_t>(by);
    const bool not_negative = is_unsigned_integer(type) || (a.bounded && a.lo >= 0 && a.shape.stride >= 0);
    const std::uint64_t align = divides(divisor, a.shape.align) ? 0 : std::gcd(a.shape.align, divisor);
    const LaneInterval range =
        not_negative ? LaneInterval{true, 0, by - 1} : LaneInterval{true, 1 - by, by - 1};
    if (a.uniform()) return settle(type, {LaneShape::Uniform, 0, align}, range);
    if (!not_negative) return varying_value();
    if (is_aligned(type, a) && divides(static_cast<std::uint64_t>(span(a)), divisor)) {
        return settle(type, {LaneShape::Affine, a.shape.stride, align}, range);
    }
    const bool wrapping_is_harmless = is_unsigned_integer(type) && std::has_single_bit(divisor);
    if (a.shape.stride % by == 0 && (wrapping_is_harmless || !may_wrap(type, a))) {
        return settle(type, {LaneShape::Uniform, 0, align}, range);
    }
    return varying_value();
}

LaneValue LaneArithmetic::mask(ScalarType type, const LaneValue& a, const LaneValue& b,
                               const LaneValue* mask_plus_one) const {
    const LaneShape::Kind kind = both(a, b);
    if (kind == LaneShape::Varying || (a.affine() && b.affine())) return varying_value();
    const bool left_is_mask = b.affine() || (a.uniform() && is_constant(a));
    const LaneValue& bits = left_is_mask ? a : b;
    const LaneValue& value = left_is_mask ? b : a;
    LaneInterval range;
    for (const LaneValue* v : {&a, &b}) {
        if (v->uniform() && v->bounded && v->lo >= 0)
            range = {true, 0, range.bounded ? std::min(range.hi, v->hi) : v->hi};
    }
    const std::uint64_t factor = power_of_two_in(value.shape.align, type);
    const std::uint64_t bits_factor = power_of_two_in(bits.shape.align, type);
    const bool vanishes = is_constant(bits) && bits.lo >= 0 && static_cast<std::uint64_t>(bits.lo) < factor;
    const std::uint64_t align = vanishes ? 0 : std::max(factor, bits_factor);
    if (kind == LaneShape::Uniform) return settle(type, {kind, 0, align}, range);

    // The lanes differ in the bits below `block`.
    if (value.shape.stride <= 0) return varying_value();
    const std::uint64_t block = std::bit_ceil(static_cast<std::uint64_t>(span(value)));
    if (divides(block, value.shape.align)) {
        const bool all_kept =
            is_constant(bits) && (static_cast<std::uint64_t>(bits.lo) & (block - 1)) == block - 1;
        const bool all_ones = mask_plus_one != nullptr && mask_plus_one->uniform() &&
                              divides(block, mask_plus_one->shape.align);
        if (all_kept || all_ones) return settle(type, {LaneShape::Affine, value.shape.stride, align}, range);
        if (divides(block, bits.shape.align)) return settle(type, {LaneShape::Uniform, 0, align}, range);
    }
    // The mask selects bits in which the lanes are equal: x & 3 with a stride that is a multiple of 4.
    if (is_constant(bits) && bits.lo >= 0) {
        const std::uint64_t above = std::bit_ceil(static_cast<std::uint64_t>(bits.lo) + 1);
        if (divides(above, static_cast<std::uint64_t>(value.shape.stride))) {
            return settle(type, {LaneShape::Uniform, 0, align}, range);
        }
    }
    return varying_value();
}

// Or and xor with a uniform value act on the base if the lanes do not differ in the bits of that value.
LaneValue LaneArithmetic::set_bits(ScalarType type, const LaneValue& a, const LaneValue& b) const {
    const LaneShape::Kind kind = both(a, b);
    if (kind == LaneShape::Varying || (a.affine() && b.affine())) return varying_value();
    LaneInterval range;
    if (a.bounded && b.bounded && a.lo >= 0 && b.lo >= 0) {
        const auto top = static_cast<std::uint64_t>(std::max(a.hi, b.hi));
        if (top < static_cast<std::uint64_t>(max_i64) / 2)
            range = {true, 0, static_cast<std::int64_t>(std::bit_ceil(top + 1) - 1)};
    }
    const LaneValue& value = a.affine() ? a : b;
    const LaneValue& bits = a.affine() ? b : a;
    const std::uint64_t align =
        std::gcd(power_of_two_in(value.shape.align, type), power_of_two_in(bits.shape.align, type));
    if (kind == LaneShape::Uniform) return settle(type, {kind, 0, align}, range);
    if (value.shape.stride <= 0) return varying_value();
    const std::uint64_t block = std::bit_ceil(static_cast<std::uint64_t>(span(value)));
    const bool above = divides(block, value.shape.align) && divides(block, bits.shape.align);
    const std::uint64_t step =
        std::min(power_of_two_in(value.shape.align, type),
                 power_of_two_in(static_cast<std::uint64_t>(value.shape.stride), type));
    const bool below = is_constant(bits) && bits.lo >= 0 && static_cast<std::uint64_t>(bits.lo) < step;
    if (!above && !below) return varying_value();
    return settle(type, {LaneShape::Affine, value.shape.stride, align}, range);
}

LaneValue LaneArithmetic::compare(Op op, ScalarType type, const LaneValue& a, const LaneValue& b) const {
    const LaneValue no = varying_value();
    const LaneValue yes = plain_value(ScalarType::Bool, true);
    if (a.uniform() && b.uniform()) return yes;
    if (b.affine()) {
        if (!a.uniform()) return no;
        switch (op) {
            case Op::Lt: return compare(Op::Gt, type, b, a);
            case Op::Gt: return compare(Op::Lt, type, b, a);
            case Op::Le: return compare(Op::Ge, type, b, a);
            case Op::Ge: return compare(Op::Le, type, b, a);
            default: return no;
        }
    }
    // All lanes are on the same side of a bound that is a multiple of the span.
    if (!b.uniform() || !is_aligned(type, a)) return no;
    const auto reach = static_cast<std::uint64_t>(span(a));
    if (op == Op::Lt || op == Op::Ge) return divides(reach, b.shape.align) ? yes : no;
    if (op != Op::Le && op != Op::Gt) return no;
    return is_constant(b) && b.lo >= 0 && b.lo < max_i64 &&
                   divides(reach, static_cast<std::uint64_t>(b.lo) + 1)
               ? yes
               : no;
}

LaneValue LaneArithmetic::apply(Op op, ScalarType type, const LaneValue& a, const LaneValue& b,
                                const LaneValue* mask_plus_one) const {
    const bool all_uniform = a.uniform() && b.uniform();
    const std::int64_t c = is_constant(b) ? b.lo : 0;
    switch (op) {
        case Op::Add: return add(type, a, b);
        case Op::Sub: return subtract(type, a, b);
        case Op::Mul: return multiply(type, a, b);
        case Op::Neg: return subtract(type, constant_value(0), a);
        case Op::Not: return subtract(type, constant_value(-1), a);
        case Op::Shl:
            if (!is_constant(b)) break;
            return multiply(type, a,
                            constant_value(static_cast<std::int64_t>(
                                std::uint64_t{1} << (static_cast<std::uint64_t>(c) % bits_of(type)))));
        case Op::Shr: {
            const std::uint64_t by = static_cast<std::uint64_t>(c) % bits_of(type);
            if (!is_constant(b) || by > 62) break;
            return divide(type, a, std::int64_t{1} << by, true);
        }
        case Op::Div:
            if (c <= 0) break;
            return divide(type, a, c, false);
        case Op::Rem:
            if (c <= 0) break;
            return remainder(type, a, c);
        case Op::And: return mask(type, a, b, mask_plus_one);
        case Op::Or:
        case Op::Xor: return set_bits(type, a, b);
        case Op::Eq:
        case Op::Ne:
        case Op::Lt:
        case Op::Le:
        case Op::Gt:
        case Op::Ge: return compare(op, type, a, b);
        case Op::Min:
        case Op::Max: {
            if (!all_uniform) return varying_value();
            return join(a, b);
        }
        case Op::Abs:
            if (a.bounded && a.lo >= 0 && !may_wrap(type, a) && (a.shape.stride >= 0)) return a;
            break;
        default: break;
    }
    return plain_value(type, all_uniform);
}

LaneValue LaneArithmetic::convert(ScalarType from, ScalarType to, const LaneValue& a) const {
    if (!is_integer(from) || !is_integer(to)) return plain_value(to, a.uniform());
    if (a.varying()) return varying_value();
    if (a.affine() && bits_of(to) > bits_of(from) && may_wrap(from, a)) return varying_value();
    return settle(to, a.shape, range_of(a));
}

LaneValue LaneArithmetic::index(ScalarType type, const LaneValue& begin, const LaneValue& end,
                                const LaneValue& step) const {
    if (begin.varying() || !step.uniform()) return varying_value();
    LaneShape shape = {begin.shape.kind, begin.shape.stride, std::gcd(begin.shape.align, step.shape.align)};
    const bool upwards = is_unsigned_integer(type) || (step.bounded && step.lo > 0);
    const bool downwards = step.bounded && step.hi < 0;
    LaneInterval range;
    // Lane 0 stays in the loop as long as any lane if it has the smallest index and all lanes have the same
    // end.
    const bool known = end.uniform() && begin.bounded && end.bounded && end.lo > min_i64 && end.hi < max_i64;
    if (upwards && known && begin.shape.stride >= 0) {
        range = {true, begin.lo, std::max(begin.lo, end.hi - 1)};
    } else if (downwards && known && begin.uniform()) {
        range = {true, std::min(begin.hi, end.lo + 1), begin.hi};
    }
    return settle(type, shape, range);
}

}  // namespace volley::passes
