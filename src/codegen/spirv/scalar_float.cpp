// Floating point. Operations that drivers round correctly are one instruction, never contracted. Fused
// multiply-add is emulated if the target's rounds twice, and f16 if the target has none.
// passes/expand_math.hpp has already expanded math functions.
#include "codegen/spirv/scalar_code.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <array>
#include <bit>
#include <limits>

namespace volley::codegen::spirv {

using ir::Op;

Id ScalarCode::exact(spv::Op op, Id type, std::initializer_list<Id> operands) {
    const Id id = m_.op(op, type, operands);
    m_.decorate(id, spv::Decoration::NoContraction);
    return id;
}

Id ScalarCode::number(ScalarType s, double v) {
    if (s == ScalarType::F64) return m_.constant64(type(s), std::bit_cast<std::uint64_t>(v));
    return m_.f32(static_cast<float>(v));
}

Id ScalarCode::classify(Op op, ScalarType s, Id x) {
    const bool kept = s == ScalarType::F64 ? target_.keeps_nan_f64 : target_.keeps_nan_f32;
    if (kept) return m_.op(op == Op::IsNan ? spv::Op::OpIsNan : spv::Op::OpIsInf, m_.bool_type(), {x});
    if (s == ScalarType::F64) {
        const Scalar words = split(x);
        const Id high = and_(words.high, u32(0x7fffffffu));
        const Id top = eq(high, u32(0x7ff00000u));
        if (op == Op::IsInf) return both(top, eq(words.id, u32(0)));
        return either(ult(u32(0x7ff00000u), high), both(top, ne(words.id, u32(0))));
    }
    const Id magnitude = and_(bits_of_f32(x), u32(0x7fffffffu));
    if (op == Op::IsInf) return eq(magnitude, u32(0x7f800000u));
    return ult(u32(0x7f800000u), magnitude);
}

bool ScalarCode::is_zero(ScalarType s, Id v) const {
    const auto bits = m_.constant_bits(v);
    return bits && (*bits == 0 || *bits == std::uint64_t{1} << (s == ScalarType::F64 ? 63 : 31));
}

// Drivers simplify arithmetic with a constant zero, and the difference of a value with itself, as if signs of
// zero and NaN did not matter. Returns the exact result computed differently, or 0 if nothing needs avoiding.
Id ScalarCode::without_zero(Op op, ScalarType s, Id x, Id y) {
    const bool x_zero = is_zero(s, x);
    const bool y_zero = is_zero(s, y);
    if (!x_zero && !y_zero && !(op == Op::Sub && x == y)) return 0;
    const Id positive = zero(s).id;
    const Id negative = number(s, -0.0);
    const Id t = type(s);
    const Id nan = number(s, std::numeric_limits<double>::quiet_NaN());
    const auto equals_zero = [&](Id v) { return m_.op(spv::Op::OpFOrdEqual, m_.bool_type(), {v, positive}); };
    const auto not_finite = [&](Id v) {
        return either(classify(Op::IsNan, s, v), classify(Op::IsInf, s, v));
    };
    const auto minus = [&](Id v) { return m_.op(spv::Op::OpFNegate, t, {v}); };
    // Returns a zero or infinity with the sign of v, or of -v.
    const auto signed_like = [&](Id v, Id magnitude, bool flipped) {
        const Id below = s == ScalarType::F64 ? split(v).high : bits_of_f32(v);
        const Id is_negative = slt(below, u32(0));
        return flipped ? m_.select(t, is_negative, magnitude, minus(magnitude))
                       : m_.select(t, is_negative, minus(magnitude), magnitude);
    };
    switch (op) {
        case Op::Add: {
            const Id other = x_zero ? y : x;
            const Id constant_zero = x_zero ? x : y;
            return constant_zero == negative ? other : m_.select(t, equals_zero(other), positive, other);
        }
        case Op::Sub:
            if (y_zero) return y == positive ? x : m_.select(t, equals_zero(x), positive, x);
            if (x_zero) return x == negative ? minus(y) : m_.select(t, equals_zero(y), positive, minus(y));
            return m_.select(t, not_finite(x), nan, positive);
        case Op::Mul: {
            const Id other = x_zero ? y : x;
            const bool flipped = (x_zero ? x : y) == negative;
            return m_.select(t, not_finite(other), nan, signed_like(other, positive, flipped));
        }
        case Op::Div:
            if (y_zero) {
                const Id infinity = number(s, std::numeric_limits<double>::infinity());
                const Id undefined = either(equals_zero(x), classify(Op::IsNan, s, x));
                return m_.select(t, undefined, nan, signed_like(x, infinity, y == negative));
            } else {
                const Id undefined = either(equals_zero(y), classify(Op::IsNan, s, y));
                return m_.select(t, undefined, nan, signed_like(y, positive, x == negative));
            }
        default: return 0;
    }
}

// Changes only the sign bit. Targets without float guarantees may compute 0 - x instead, which changes NaN
// and subnormals; there the operation is done on the bits.
Id ScalarCode::change_sign(Op op, ScalarType s, Id x) {
    const Id t = type(s);
    const bool negate = op == Op::Neg;
    if (target_.rounds_even_f32 || target_.keeps_subnormals_f32)
        return negate ? m_.op(spv::Op::OpFNegate, t, {x}) : m_.glsl(GLSLstd450FAbs, t, {x});
    const auto changed = [&](Id bits) {
        return negate ? xor_(bits, u32(0x80000000u)) : and_(bits, u32(0x7fffffffu));
    };
    if (s != ScalarType::F64) return f32_of_bits(changed(bits_of_f32(x)));
    const Scalar words = split(x);
    return join(t, words.id, changed(words.high));
}

Id ScalarCode::floating(Op op, ScalarType s, Id x, Id y, Id z, bool loose) {
    const Id t = type(s);
    const auto ordered = [&](spv::Op code, Id a, Id b) { return m_.op(code, m_.bool_type(), {a, b}); };
    // f16 computes in f32 and rounds; results that are always f16 values need no rounding.
    const auto made = [&](Id v) { return s == ScalarType::F16 ? round_to_half(v) : v; };
    if (op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Div) {
        if (const Id exactly = without_zero(op, s, x, y)) return exactly;
    }
    switch (op) {
        case Op::Neg:
        case Op::Abs: return change_sign(op, s, x);
        case Op::Sign: {
            // NaN and zeros are returned unchanged.
            const Id zero_id = zero(s).id;
            const Id low = m_.select(t, ordered(spv::Op::OpFOrdLessThan, x, zero_id), number(s, -1), x);
            return m_.select(t, ordered(spv::Op::OpFOrdGreaterThan, x, zero_id), number(s, 1), low);
        }
        case Op::Add: return made(exact(spv::Op::OpFAdd, t, {x, y}));
        case Op::Sub: return made(exact(spv::Op::OpFSub, t, {x, y}));
        case Op::Mul: return made(exact(spv::Op::OpFMul, t, {x, y}));
        case Op::Div: return made(exact(spv::Op::OpFDiv, t, {x, y}));
        case Op::Fma: {
            // A product of two f16 is exact in f32, so only the sum rounds; the same holds if a factor is
            // zero.
            const ScalarType computed = s == ScalarType::F16 ? ScalarType::F32 : s;
            if (s == ScalarType::F16 || loose || is_zero(s, x) || is_zero(s, y))
                return made(
                    floating(Op::Add, computed, floating(Op::Mul, computed, x, y, 0, false), z, 0, false));
            if (!is_zero(s, z)) return fused(s, x, y, z);
            // Only the sign of a zero product changes.
            const Id product = floating(Op::Mul, s, x, y, 0, false);
            if (z != zero(s).id) return product;
            const auto equals_zero = [&](Id v) { return ordered(spv::Op::OpFOrdEqual, v, zero(s).id); };
            const Id no_product = both(equals_zero(product), either(equals_zero(x), equals_zero(y)));
            return m_.select(t, no_product, zero(s).id, product);
        }
        case Op::Min: return m_.glsl(GLSLstd450NMin, t, {x, y});
        case Op::Max: return m_.glsl(GLSLstd450NMax, t, {x, y});
        case Op::Floor: return m_.glsl(GLSLstd450Floor, t, {x});
        case Op::Ceil: return m_.glsl(GLSLstd450Ceil, t, {x});
        case Op::Trunc: return m_.glsl(GLSLstd450Trunc, t, {x});
        case Op::RoundEven: return m_.glsl(GLSLstd450RoundEven, t, {x});
        case Op::Round: {
            // The largest number below one half, so 0.49999997 does not round up.
            const Id half = number(s, s == ScalarType::F64 ? 0x1.fffffffffffffp-2 : 0x1.fffffep-2);
            const Id push = m_.select(t, ordered(spv::Op::OpFOrdLessThan, x, zero(s).id),
                                      m_.op(spv::Op::OpFNegate, t, {half}), half);
            const Id rounded = m_.glsl(GLSLstd450Trunc, t, {exact(spv::Op::OpFAdd, t, {x, push})});
            // Preserves the sign of -0.
            return m_.select(t, ordered(spv::Op::OpFOrdEqual, x, zero(s).id), x, rounded);
        }
        case Op::Sqrt: return made(m_.glsl(GLSLstd450Sqrt, t, {x}));
        case Op::IsNan:
        case Op::IsInf: return classify(op, s, x);
        case Op::Eq: return ordered(spv::Op::OpFOrdEqual, x, y);
        case Op::Ne: return ordered(spv::Op::OpFUnordNotEqual, x, y);
        case Op::Lt: return ordered(spv::Op::OpFOrdLessThan, x, y);
        case Op::Le: return ordered(spv::Op::OpFOrdLessThanEqual, x, y);
        case Op::Gt: return ordered(spv::Op::OpFOrdGreaterThan, x, y);
        case Op::Ge: return ordered(spv::Op::OpFOrdGreaterThanEqual, x, y);
        default: break;
    }
    fail_internal(cat(ir::mnemonic(op), " was not expanded before code generation"), site_.fn.name);
}

// ---- f16 ----

Id ScalarCode::round_to_half(Id value) {
    const Id t = m_.float_type(32);
    if (target_.f16 && target_.rounds_even_f16) {
        m_.capability(spv::Capability::Float16);
        return m_.op(spv::Op::OpFConvert, t, {m_.op(spv::Op::OpFConvert, m_.float_type(16), {value})});
    }
    const Id bits = bits_of_f32(value);
    const Id magnitude = and_(bits, u32(0x7fffffffu));
    const Id sign = xor_(bits, magnitude);
    // Normal f16 numbers: rounds the mantissa to 10 bits, ties to even; larger values become infinity.
    const Id odd = and_(shr(magnitude, u32(13)), u32(1));
    const Id rounded = and_(add(add(magnitude, u32(0xfff)), odd), u32(0xffffe000u));
    const Id large = pick(ule(u32(0x47800000u), rounded), u32(0x7f800000u), rounded);
    // Below 2^-14, f16 numbers are 2^-24 apart, like f32 numbers at 0.5.
    const Id half = m_.f32(0.5f);
    const Id lifted = exact(spv::Op::OpFAdd, t, {f32_of_bits(magnitude), half});
    const Id small = bits_of_f32(exact(spv::Op::OpFSub, t, {lifted, half}));
    const Id finite = pick(ult(magnitude, u32(0x38800000u)), small, large);
    const Id kept = pick(ult(u32(0x7f800000u), magnitude), magnitude, finite);  // NaN
    return f32_of_bits(or_(kept, sign));
}

// With `payload`, preserves the payload of NaN; conversions may lose it.
Id ScalarCode::half_bits(Id value, bool payload) {
    const Id t = m_.float_type(32);
    const Id word_type = m_.u32_type();
    const auto nan_bits = [&](Id magnitude) {
        const Id kept = and_(shr(magnitude, u32(13)), u32(0x3ff));
        return or_(u32(0x7c00), pick(eq(kept, u32(0)), u32(0x200), kept));
    };
    if (native_halves()) {
        const Id half = m_.op(spv::Op::OpFConvert, m_.float_type(16), {value});
        const Id bits =
            m_.op(spv::Op::OpUConvert, word_type, {m_.op(spv::Op::OpBitcast, m_.int_type(16), {half})});
        if (!payload) return bits;
        const Id given = bits_of_f32(value);
        const Id magnitude = and_(given, u32(0x7fffffffu));
        const Id nan = or_(nan_bits(magnitude), and_(shr(given, u32(16)), u32(0x8000)));
        return pick(ult(u32(0x7f800000u), magnitude), nan, bits);
    }
    const Id bits = bits_of_f32(value);
    const Id magnitude = and_(bits, u32(0x7fffffffu));
    const Id sign = and_(shr(bits, u32(16)), u32(0x8000));
    const Id normal = shr(sub(magnitude, u32(112u << 23)), u32(13));
    const Id scaled = exact(spv::Op::OpFMul, t, {f32_of_bits(magnitude), m_.f32(0x1p24f)});
    const Id small = m_.op(spv::Op::OpConvertFToU, word_type, {scaled});
    const Id finite = pick(ult(magnitude, u32(0x38800000u)), small, normal);
    const Id infinite = pick(eq(magnitude, u32(0x7f800000u)), u32(0x7c00), nan_bits(magnitude));
    return or_(sign, pick(ule(u32(0x7f800000u), magnitude), infinite, finite));
}

Id ScalarCode::half_value(Id word, bool payload) {
    const Id t = m_.float_type(32);
    const Id magnitude = and_(word, u32(0x7fff));
    const Id shifted = shl(magnitude, u32(13));
    const auto signed_bits = [&](Id bits) { return or_(bits, shl(and_(word, u32(0x8000)), u32(16))); };
    if (native_halves()) {
        const Id narrow_word = m_.op(spv::Op::OpUConvert, m_.int_type(16), {word});
        const Id half = m_.op(spv::Op::OpBitcast, m_.float_type(16), {narrow_word});
        const Id value = m_.op(spv::Op::OpFConvert, t, {half});
        if (!payload) return value;
        const Id nan = f32_of_bits(signed_bits(or_(shifted, u32(0x7f800000u))));
        return m_.select(t, ult(u32(0x7c00), magnitude), nan, value);
    }
    const Id normal = add(shifted, u32(112u << 23));
    const Id converted = m_.op(spv::Op::OpConvertUToF, t, {magnitude});
    const Id small = bits_of_f32(exact(spv::Op::OpFMul, t, {converted, m_.f32(0x1p-24f)}));
    const Id finite = pick(ult(magnitude, u32(0x400)), small, normal);
    const Id whole = pick(ule(u32(0x7c00), magnitude), or_(shifted, u32(0x7f800000u)), finite);
    return f32_of_bits(signed_bits(whole));
}

bool ScalarCode::native_halves() {
    if (!target_.f16 || !target_.i16 || !target_.rounds_even_f16) return false;
    m_.capability(spv::Capability::Float16);
    m_.capability(spv::Capability::Int16);
    return true;
}

// ---- fused multiply-add ----

// Returns the exact rounding error of the sum of a and b (Knuth).
Id ScalarCode::two_sum_error(Id t, Id a, Id b, Id sum) {
    const Id b_part = exact(spv::Op::OpFSub, t, {sum, a});
    const Id a_part = exact(spv::Op::OpFSub, t, {sum, b_part});
    const Id a_lost = exact(spv::Op::OpFSub, t, {a, a_part});
    const Id b_lost = exact(spv::Op::OpFSub, t, {b, b_part});
    return exact(spv::Op::OpFAdd, t, {a_lost, b_lost});
}

// Returns the f64 sum a + b rounded to odd, so a second rounding to fewer bits is as good as one.
Id ScalarCode::odd_sum(Id a, Id b) {
    const Id t = m_.float_type(64);
    const Id sum = exact(spv::Op::OpFAdd, t, {a, b});
    const Id error = two_sum_error(t, a, b, sum);
    const Id none = m_.constant64(t, 0);
    const Scalar words = split(sum);
    // Steps towards the error: away from zero if both have the same sign. The sum is even there, so stepping
    // up causes no carry; stepping down may borrow.
    const Id up = m_.op(spv::Op::OpLogicalEqual, m_.bool_type(),
                        {m_.op(spv::Op::OpFOrdGreaterThan, m_.bool_type(), {error, none}),
                         m_.op(spv::Op::OpFOrdGreaterThan, m_.bool_type(), {sum, none})});
    const Id below = pick(eq(words.id, u32(0)), sub(words.high, u32(1)), words.high);
    const Id low = pick(up, or_(words.id, u32(1)), sub(words.id, u32(1)));
    const Id high = pick(up, words.high, below);
    const Id inexact = m_.op(spv::Op::OpFOrdNotEqual, m_.bool_type(), {error, none});
    const Id change = both(inexact, eq(and_(words.id, u32(1)), u32(0)));
    return m_.select(t, change, join(t, low, high), sum);
}

Id ScalarCode::fused(ScalarType s, Id x, Id y, Id z) {
    const Id t = type(s);
    if (target_.fused_fma) return m_.glsl(GLSLstd450Fma, t, {x, y, z});
    const std::array<Id, 3> arguments = {x, y, z};
    if (s == ScalarType::F64) return m_.call(fused_f64_function(), t, arguments);
    if (!target_.f64) return m_.call(fused_f32_function(), t, arguments);
    const Id wide = m_.float_type(64);
    const auto widen = [&](Id v) { return m_.op(spv::Op::OpFConvert, wide, {v}); };
    const Id product = exact(spv::Op::OpFMul, wide, {widen(x), widen(y)});  // exact: 48 bits
    return m_.op(spv::Op::OpFConvert, t, {odd_sum(product, widen(z))});
}

// f64 by error-free transformations (Boldo and Melquiond), with operands scaled so that no intermediate
// overflows or underflows. Subnormal results may be rounded twice.
Id ScalarCode::fused_f64_function() {
    if (fused64_ != 0) return fused64_;
    const Id t = m_.float_type(64);
    const std::array<Id, 3> types = {t, t, t};
    std::array<Id, 3> in = {};
    fused64_ = m_.begin_function(t, types, in);
    const auto add_f = [&](Id a, Id b) { return exact(spv::Op::OpFAdd, t, {a, b}); };
    const auto sub_f = [&](Id a, Id b) { return exact(spv::Op::OpFSub, t, {a, b}); };
    const auto mul_f = [&](Id a, Id b) { return exact(spv::Op::OpFMul, t, {a, b}); };
    const auto f64 = [&](double v) { return number(ScalarType::F64, v); };
    const auto exponent = [&](Id high) { return and_(shr(high, u32(20)), u32(0x7ff)); };

    std::array<Id, 3> mantissa = {};  // in [1, 2), or zero
    std::array<Id, 3> power = {};
    std::array<Id, 3> infinite = {};  // or NaN
    for (std::size_t k = 0; k < 3; ++k) {
        const Scalar given = split(in[k]);
        infinite[k] = eq(exponent(given.high), u32(0x7ff));
        const Id subnormal = eq(exponent(given.high), u32(0));
        const Id scaled = m_.select(t, subnormal, mul_f(in[k], f64(0x1p54)), in[k]);
        const Scalar words = split(scaled);
        const Id is_zero = m_.op(spv::Op::OpFOrdEqual, m_.bool_type(), {scaled, f64(0)});
        const Id high = or_(and_(words.high, u32(0x800fffffu)), u32(0x3ff00000u));
        mantissa[k] = m_.select(t, is_zero, scaled, join(t, words.id, high));
        power[k] = sub(exponent(words.high), pick(subnormal, u32(1023 + 54), u32(1023)));
    }
    const Id ab = add(power[0], power[1]);
    const Id apart = sub(power[2], ab);  // exponent of c minus that of the product
    const Id clamped =
        m_.glsl(GLSLstd450SClamp, m_.u32_type(), {apart, u32(static_cast<std::uint32_t>(-120)), u32(120)});
    const auto power_of_two = [&](Id e) { return join(t, u32(0), shl(add(e, u32(1023)), u32(20))); };
    const Id c = mul_f(mantissa[2], power_of_two(clamped));

    // Splits the product of the mantissas into a sum of two (Dekker).
    const Id high = mul_f(mantissa[0], mantissa[1]);
    const auto upper = [&](Id v) {
        const Id big = mul_f(v, f64(134217729.0));
        return sub_f(big, sub_f(big, v));
    };
    const Id a1 = upper(mantissa[0]);
    const Id a2 = sub_f(mantissa[0], a1);
    const Id b1 = upper(mantissa[1]);
    const Id b2 = sub_f(mantissa[1], b1);
    Id low = sub_f(mul_f(a1, b1), high);
    low = add_f(low, mul_f(a1, b2));
    low = add_f(low, mul_f(a2, b1));
    low = add_f(low, mul_f(a2, b2));

    const Id t_high = add_f(c, low);
    const Id t_low = two_sum_error(t, c, low, t_high);
    const Id v_high = add_f(high, t_high);
    const Id v_low = two_sum_error(t, high, t_high, v_high);
    const Id sum = add_f(v_high, odd_sum(t_low, v_low));

    const Id e = m_.glsl(GLSLstd450SMax, m_.u32_type(), {ab, u32(static_cast<std::uint32_t>(-1400))});
    const Id first = sar(e, u32(1));
    const Id scaled = mul_f(mul_f(sum, power_of_two(first)), power_of_two(sub(e, first)));
    const Id c_wins = m_.op(spv::Op::OpSGreaterThan, m_.bool_type(), {apart, u32(120)});
    const Id c_is_zero = m_.op(spv::Op::OpFOrdEqual, m_.bool_type(), {mantissa[2], f64(0)});
    Id result = m_.select(t, both(c_wins, negated(c_is_zero)), in[2], scaled);

    // Zeros, infinities and NaN use plain arithmetic, except that an infinite c absorbs any finite product.
    const Id product = mul_f(in[0], in[1]);
    const Id no_product = either(m_.op(spv::Op::OpFOrdEqual, m_.bool_type(), {mantissa[0], f64(0)}),
                                 m_.op(spv::Op::OpFOrdEqual, m_.bool_type(), {mantissa[1], f64(0)}));
    const Id factors = either(infinite[0], infinite[1]);
    result = m_.select(t, infinite[2], in[2], result);
    result = m_.select(t, either(factors, no_product), add_f(product, in[2]), result);
    m_.end_function(result);
    return fused64_;
}

// f32 in integers: 24 x 24 bits, aligned and summed in 64, rounded once. Correct for all operands.
Id ScalarCode::fused_f32_function() {
    if (fused32_ != 0) return fused32_;
    const Id t = m_.float_type(32);
    const std::array<Id, 3> types = {t, t, t};
    std::array<Id, 3> in = {};
    fused32_ = m_.begin_function(t, types, in);
    constexpr ScalarType u64 = ScalarType::U64;
    const auto wide = [&](Op op, Scalar a, Scalar b = {}) { return apply(op, u64, a, b); };
    const auto of_word = [&](Id v) { return convert(ScalarType::U32, u64, {v}); };
    const auto constant64 = [&](std::uint64_t v) { return constant(u64, v); };

    std::array<Id, 3> bits = {};
    std::array<Id, 3> mantissa = {};  // in [2^23, 2^24), or 0
    std::array<Id, 3> power = {};     // exponent of the mantissa's last bit
    std::array<Id, 3> infinite = {};  // or NaN
    for (std::size_t k = 0; k < 3; ++k) {
        bits[k] = bits_of_f32(in[k]);
        const Id exponent = and_(shr(bits[k], u32(23)), u32(0xff));
        infinite[k] = eq(exponent, u32(0xff));
        const Id fraction = and_(bits[k], u32(0x7fffff));
        const Id normal = ne(exponent, u32(0));
        const Id distance = sub(u32(23), m_.glsl(GLSLstd450FindUMsb, m_.u32_type(), {fraction}));
        const Id raised = shl(fraction, and_(distance, u32(31)));
        mantissa[k] = pick(normal, or_(fraction, u32(0x800000)), raised);
        power[k] = sub(pick(normal, exponent, sub(u32(1), distance)), u32(150));
    }
    const Id sign_product = and_(xor_(bits[0], bits[1]), u32(0x80000000u));
    const Id sign_c = and_(bits[2], u32(0x80000000u));
    // Both have headroom above and zeros below: if they cancel, no bit has been shifted out.
    Scalar product = multiply_words(mantissa[0], mantissa[1]);
    if (!paired(u64)) product = {join(type(u64), product.id, product.high)};
    product = wide(Op::Shl, product, constant64(15));
    const Scalar c = wide(Op::Shl, of_word(mantissa[2]), constant64(38));
    const Id power_product = sub(add(power[0], power[1]), u32(15));
    const Id c_is_zero = eq(mantissa[2], u32(0));
    const Id power_c = pick(c_is_zero, sub(power_product, u32(100)), sub(power[2], u32(38)));
    const Id apart = sub(power_product, power_c);
    const Id c_lower = negated(slt(apart, u32(0)));
    const auto lowered = [&](Scalar v, Id by) {
        const Id n = m_.glsl(GLSLstd450UMin, m_.u32_type(), {by, u32(63)});
        const Scalar shifted = wide(Op::Shr, v, of_word(n));
        const Scalar back = wide(Op::Shl, shifted, of_word(n));
        const Id lost = wide(Op::Ne, back, v).id;
        return wide(Op::Or, shifted, of_word(pick(lost, u32(1), u32(0))));
    };
    const Scalar p = lowered(product, pick(c_lower, u32(0), sub(u32(0), apart)));
    const Scalar q = lowered(c, pick(c_lower, apart, u32(0)));
    const Id power_sum = pick(c_lower, power_product, power_c);
    const Id same = eq(sign_product, sign_c);
    const Id p_less = wide(Op::Lt, p, q).id;
    const Scalar difference = select(u64, p_less, wide(Op::Sub, q, p), wide(Op::Sub, p, q));
    const Scalar sum = select(u64, same, wide(Op::Add, p, q), difference);
    const Id is_zero = wide(Op::Eq, sum, constant64(0)).id;
    const Id sign = pick(both(p_less, negated(same)), sign_c, sign_product);

    const Scalar zeros = wide(Op::Clz, sum);
    const Id up = convert(u64, ScalarType::U32, zeros).id;
    const Scalar top = to_words(u64, wide(Op::Shl, sum, zeros));
    Id rounded = or_(top.high, pick(ne(top.id, u32(0)), u32(1), u32(0)));  // 24 bits and 8 extra bits
    const Id exponent = add(sub(power_sum, up), u32(63 + 127));
    const Id subnormal = slt(exponent, u32(1));
    const Id down =
        pick(subnormal, m_.glsl(GLSLstd450UMin, m_.u32_type(), {sub(u32(1), exponent), u32(25)}), u32(0));
    const Id shifted = shr(rounded, down);
    rounded = or_(shifted, pick(ne(shl(shifted, down), rounded), u32(1), u32(0)));
    const Id whole = shr(rounded, u32(8));
    const Id rest = and_(rounded, u32(0xff));
    const Id tie = both(eq(rest, u32(0x80)), ne(and_(whole, u32(1)), u32(0)));
    const Id number_up = add(whole, pick(either(ult(u32(0x80), rest), tie), u32(1), u32(0)));
    Id magnitude = add(pick(subnormal, u32(0), shl(sub(exponent, u32(1)), u32(23))), number_up);
    magnitude = pick(m_.op(spv::Op::OpSGreaterThan, m_.bool_type(), {exponent, u32(254)}), u32(0x7f800000u),
                     magnitude);
    Id result = f32_of_bits(pick(is_zero, u32(0), or_(sign, magnitude)));

    // Zeros, infinities and NaN use plain arithmetic, except that an infinite c absorbs any finite product.
    const Id no_product = either(eq(mantissa[0], u32(0)), eq(mantissa[1], u32(0)));
    const Id plain = exact(spv::Op::OpFAdd, t, {exact(spv::Op::OpFMul, t, {in[0], in[1]}), in[2]});
    // If the product is zero, the sum is c; its bits are kept unless c is also zero.
    const Id c_alone = both(no_product, negated(c_is_zero));
    result = m_.select(t, either(infinite[2], c_alone), in[2], result);
    const Id plainly = either(either(infinite[0], infinite[1]), both(no_product, c_is_zero));
    result = m_.select(t, plainly, plain, result);
    m_.end_function(result);
    return fused32_;
}

}  // namespace volley::codegen::spirv
