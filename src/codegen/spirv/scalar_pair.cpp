// 64-bit integers as two words, for targets without them. `id` is the low word.
#include "codegen/spirv/scalar_code.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <array>

namespace volley::codegen::spirv {

using ir::Op;

Scalar ScalarCode::pair_add(Scalar a, Scalar b) {
    const Id low = add(a.id, b.id);
    const Id carry = pick(ult(low, a.id), u32(1), u32(0));
    return {low, add(add(a.high, b.high), carry)};
}

Scalar ScalarCode::pair_sub(Scalar a, Scalar b) {
    const Id borrow = pick(ult(a.id, b.id), u32(1), u32(0));
    return {sub(a.id, b.id), sub(sub(a.high, b.high), borrow)};
}

Scalar ScalarCode::pair_negate(Scalar x) { return pair_sub({u32(0), u32(0)}, x); }

Scalar ScalarCode::multiply_words(Id a, Id b) {
    const Id t = m_.u32_type();
    const Id both_words = m_.op(spv::Op::OpUMulExtended, m_.struct_type({t, t}), {a, b});
    return {m_.extract(both_words, t, 0), m_.extract(both_words, t, 1)};
}

Scalar ScalarCode::pair_mul(Scalar a, Scalar b) {
    const Scalar low = multiply_words(a.id, b.id);
    return {low.id, add(low.high, add(mul(a.id, b.high), mul(a.high, b.id)))};
}

Scalar ScalarCode::pair_pick(Id condition, Scalar a, Scalar b) {
    return {pick(condition, a.id, b.id), pick(condition, a.high, b.high)};
}

Id ScalarCode::pair_equal(Scalar a, Scalar b) { return both(eq(a.id, b.id), eq(a.high, b.high)); }

Id ScalarCode::pair_less(ScalarType s, Scalar a, Scalar b) {
    const Id above = is_signed_integer(s) ? slt(a.high, b.high) : ult(a.high, b.high);
    return either(above, both(eq(a.high, b.high), ult(a.id, b.id)));
}

Id ScalarCode::pair_compare(Op op, ScalarType s, Scalar a, Scalar b) {
    switch (op) {
        case Op::Eq: return pair_equal(a, b);
        case Op::Ne: return either(ne(a.id, b.id), ne(a.high, b.high));
        case Op::Lt: return pair_less(s, a, b);
        case Op::Gt: return pair_less(s, b, a);
        case Op::Le: return negated(pair_less(s, b, a));
        case Op::Ge: return negated(pair_less(s, a, b));
        default: break;
    }
    fail_internal(cat("no SPIR-V for ", ir::mnemonic(op), " of two words"), site_.fn.name);
}

Scalar ScalarCode::pair_shift(Op op, ScalarType s, Scalar x, Scalar y) {
    const Id amount = and_(y.id, u32(63));
    const Id within = and_(amount, u32(31));
    const Id far = ne(and_(amount, u32(32)), u32(0));
    const Id back = sub(u32(31), within);  // one less than the distance to the other word, so never 32
    if (op == Op::Shl) {
        const Id low = shl(x.id, within);
        const Id carried = shr(shr(x.id, u32(1)), back);
        return {pick(far, u32(0), low), pick(far, low, or_(shl(x.high, within), carried))};
    }
    const bool sign = is_signed_integer(s);
    const Id high = sign ? sar(x.high, within) : shr(x.high, within);
    const Id filled = sign ? sar(x.high, u32(31)) : u32(0);
    const Id carried = shl(shl(x.high, u32(1)), back);
    return {pick(far, high, or_(shr(x.id, within), carried)), pick(far, filled, high)};
}

// Returns (quotient, remainder) of an unsigned division by a nonzero divisor: shifts and subtracts, one
// quotient bit per iteration, for as many bits as the quotient may have.
Id ScalarCode::divide_function() {
    if (divide_ != 0) return divide_;
    const Id t = m_.u32_type();
    const Id four = m_.vector_type(t, 4);
    const std::array<Id, 4> types = {t, t, t, t};
    std::array<Id, 4> in = {};
    divide_ = m_.begin_function(four, types, in);
    constexpr ScalarType u64 = ScalarType::U64;
    const Scalar x = {in[0], in[1]};
    const Scalar y = {in[2], in[3]};
    const auto zeros = [&](Scalar v) { return pair(Op::Clz, u64, v, {}, {}).id; };
    const Id x_zeros = zeros(x);
    const Id y_zeros = zeros(y);
    const Id steps = pick(ult(y_zeros, x_zeros), u32(0), add(sub(y_zeros, x_zeros), u32(1)));
    const Scalar aligned = pair_shift(Op::Shl, u64, y, {sub(steps, u32(1)), u32(0)});

    const Id before = m_.block();
    const Id head = m_.new_id();
    const Id body = m_.new_id();
    const Id next = m_.new_id();
    const Id exit = m_.new_id();
    m_.branch(head);
    m_.label(head);
    const Phi n = m_.open_phi(t, steps, before);
    const std::array<Id, 6> begin = {x.id, x.high, aligned.id, aligned.high, u32(0), u32(0)};
    std::array<Phi, 6> state;  // rest, divisor, quotient
    for (std::size_t k = 0; k < 6; ++k) state[k] = m_.open_phi(t, begin[k], before);
    const Scalar rest = {state[0].id, state[1].id};
    const Scalar divisor = {state[2].id, state[3].id};
    const Scalar quotient = {state[4].id, state[5].id};
    const Id more = ne(n.id, u32(0));
    m_.loop_merge(exit, next);
    m_.branch_if(more, body, exit);
    m_.label(body);
    const Id too_large = pair_less(u64, rest, divisor);
    const Scalar reduced = pair_pick(too_large, rest, pair_sub(rest, divisor));
    const Scalar halved = {or_(shr(divisor.id, u32(1)), shl(divisor.high, u32(31))),
                           shr(divisor.high, u32(1))};
    const Scalar doubled = {or_(shl(quotient.id, u32(1)), pick(too_large, u32(0), u32(1))),
                            or_(shl(quotient.high, u32(1)), shr(quotient.id, u32(31)))};
    const Id fewer = sub(n.id, u32(1));
    m_.branch(next);
    m_.label(next);
    m_.close_phi(n, fewer, next);
    const std::array<Id, 6> after = {reduced.id,  reduced.high, halved.id,
                                     halved.high, doubled.id,   doubled.high};
    for (std::size_t k = 0; k < 6; ++k) m_.close_phi(state[k], after[k], next);
    m_.branch(head);
    m_.label(exit);
    m_.end_function(
        m_.op(spv::Op::OpCompositeConstruct, four, {quotient.id, quotient.high, rest.id, rest.high}));
    return divide_;
}

Scalar ScalarCode::pair_divide(bool remainder, ScalarType s, Scalar x, Scalar y) {
    const bool sign = is_signed_integer(s);
    const Scalar nothing = {u32(0), u32(0)};
    const Id by_zero = pair_equal(y, nothing);
    const Id x_negative = sign ? slt(x.high, u32(0)) : 0;
    const Id y_negative = sign ? slt(y.high, u32(0)) : 0;
    const Scalar dividend = sign ? pair_pick(x_negative, pair_negate(x), x) : x;
    Scalar divisor = sign ? pair_pick(y_negative, pair_negate(y), y) : y;
    divisor = pair_pick(by_zero, {u32(1), u32(0)}, divisor);  // a / 0 = a, a rem 0 = 0
    const Id t = m_.u32_type();
    const std::array<Id, 4> arguments = {dividend.id, dividend.high, divisor.id, divisor.high};
    const Id four = m_.call(divide_function(), m_.vector_type(t, 4), arguments);
    const unsigned first = remainder ? 2 : 0;
    const Scalar result = {m_.extract(four, t, first), m_.extract(four, t, first + 1)};
    if (!sign) return result;
    const Id negative =
        remainder ? x_negative
                  : test(spv::Op::OpLogicalNotEqual, x_negative, both(y_negative, negated(by_zero)));
    return pair_pick(negative, pair_negate(result), result);
}

Scalar ScalarCode::pair(Op op, ScalarType s, Scalar x, Scalar y, Scalar z) {
    const Id t = m_.u32_type();
    const bool sign = is_signed_integer(s);
    const auto each = [&](spv::Op code) -> Scalar {
        return {word(code, x.id, y.id), word(code, x.high, y.high)};
    };
    switch (op) {
        case Op::Neg: return pair_negate(x);
        case Op::Abs: return sign ? pair_pick(slt(x.high, u32(0)), pair_negate(x), x) : x;
        case Op::Sign: {
            const Id some = pick(ne(or_(x.id, x.high), u32(0)), u32(1), u32(0));
            if (!sign) return {some, u32(0)};
            const Id filled = sar(x.high, u32(31));
            return {or_(filled, some), filled};
        }
        case Op::Add: return pair_add(x, y);
        case Op::Sub: return pair_sub(x, y);
        case Op::Mul: return pair_mul(x, y);
        case Op::Fma: return pair_add(pair_mul(x, y), z);
        case Op::Div: return pair_divide(false, s, x, y);
        case Op::Rem: return pair_divide(true, s, x, y);
        case Op::Min: return pair_pick(pair_less(s, x, y), x, y);
        case Op::Max: return pair_pick(pair_less(s, x, y), y, x);
        case Op::And: return each(spv::Op::OpBitwiseAnd);
        case Op::Or: return each(spv::Op::OpBitwiseOr);
        case Op::Xor: return each(spv::Op::OpBitwiseXor);
        case Op::Not: return {not_(x.id), not_(x.high)};
        case Op::Shl:
        case Op::Shr: return pair_shift(op, s, x, y);
        case Op::PopCount:
            return {add(m_.op(spv::Op::OpBitCount, t, {x.id}), m_.op(spv::Op::OpBitCount, t, {x.high})),
                    u32(0)};
        case Op::Clz: {
            const auto zeros = [&](Id v) { return sub(u32(31), m_.glsl(GLSLstd450FindUMsb, t, {v})); };
            return {pick(eq(x.high, u32(0)), add(zeros(x.id), u32(32)), zeros(x.high)), u32(0)};
        }
        case Op::Ctz: {
            const auto zeros = [&](Id v) {
                return m_.glsl(GLSLstd450UMin, t, {m_.glsl(GLSLstd450FindILsb, t, {v}), u32(32)});
            };
            return {pick(eq(x.id, u32(0)), add(zeros(x.high), u32(32)), zeros(x.id)), u32(0)};
        }
        case Op::ReverseBits:
            return {m_.op(spv::Op::OpBitReverse, t, {x.high}), m_.op(spv::Op::OpBitReverse, t, {x.id})};
        default: return {pair_compare(op, s, x, y)};
    }
}

}  // namespace volley::codegen::spirv
