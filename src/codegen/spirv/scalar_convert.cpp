// Conversions (docs/ir.md section 5): integers wrap, floats round once, and float-to-integer conversions
// truncate and saturate.
#include "codegen/spirv/scalar_code.hpp"

#include <cmath>
#include <limits>

namespace volley::codegen::spirv {

using ir::Op;

Scalar ScalarCode::convert(ScalarType from, ScalarType to, Scalar x) {
    if (from == to) return x;
    if ((from == ScalarType::F64 || to == ScalarType::F64) && !target_.f64)
        site_.refuse("64-bit floats (f64)", "use float, or run the kernel on a device that has f64");
    if (to == ScalarType::Bool) return apply(Op::Ne, from, x, zero(from));
    if (from == ScalarType::Bool) {
        const Scalar one = is_float(to) ? Scalar{number(to, 1)} : constant(to, 1);
        return select(to, x.id, one, zero(to));
    }
    if (is_float(from)) return is_float(to) ? float_to_float(from, to, x) : float_to_integer(from, to, x);
    return is_float(to) ? integer_to_float(from, to, x) : integer_to_integer(from, to, x);
}

Scalar ScalarCode::integer_to_integer(ScalarType from, ScalarType to, Scalar x) {
    const bool from_wide = size_of(from) == 8;
    const bool to_wide = size_of(to) == 8;
    if (from_wide && to_wide) return x;
    if (to_wide) {
        const bool sign = is_signed_integer(from);
        if (paired(to)) return {x.id, sign ? sar(x.id, u32(31)) : u32(0)};
        return {m_.op(sign ? spv::Op::OpSConvert : spv::Op::OpUConvert, type(to), {x.id})};
    }
    const Id low = from_wide && !paired(from) ? m_.op(spv::Op::OpUConvert, m_.u32_type(), {x.id}) : x.id;
    // A value that already fits needs no truncation.
    const bool fits = size_of(from) < size_of(to) && (!is_signed_integer(from) || is_signed_integer(to));
    return {fits ? low : narrow(to, low)};
}

// Converts two 16-bit halves exactly; only their sum rounds.
Id ScalarCode::unsigned_to_f32(Id v) {
    const Id t = m_.float_type(32);
    if (target_.rounds_even_f32) return m_.op(spv::Op::OpConvertUToF, t, {v});
    const auto to_float = [&](Id w) { return m_.op(spv::Op::OpConvertSToF, t, {w}); };
    const Id high = exact(spv::Op::OpFMul, t, {to_float(shr(v, u32(16))), m_.f32(65536.0f)});
    return exact(spv::Op::OpFAdd, t, {high, to_float(and_(v, u32(0xffff)))});
}

Id ScalarCode::pair_to_float(ScalarType from, ScalarType to, Scalar x) {
    const bool sign = is_signed_integer(from);
    const Id negative = sign ? slt(x.high, u32(0)) : 0;
    const Scalar magnitude = sign ? pair_pick(negative, pair_negate(x), x) : x;
    const Id t = type(to);
    Id result = 0;
    if (to == ScalarType::F64) {
        const auto to_float = [&](Id w) { return m_.op(spv::Op::OpConvertUToF, t, {w}); };
        const Id high = exact(spv::Op::OpFMul, t, {to_float(magnitude.high), number(to, 0x1p32)});
        result = exact(spv::Op::OpFAdd, t, {high, to_float(magnitude.id)});
    } else {
        // Takes the top 32 bits, with the lost bits ORed into the last one.
        const Id zeros = pair(Op::Clz, ScalarType::U64, magnitude, {}, {}).id;
        const Scalar top = pair_shift(Op::Shl, ScalarType::U64, magnitude, {zeros, u32(0)});
        const Id kept = or_(top.high, pick(ne(top.id, u32(0)), u32(1), u32(0)));
        const Id scale = f32_of_bits(shl(sub(u32(127 + 32), zeros), u32(23)));
        const Id value = exact(spv::Op::OpFMul, t, {unsigned_to_f32(kept), scale});
        result = m_.select(t, eq(or_(x.id, x.high), u32(0)), m_.f32(0), value);
    }
    return sign ? m_.select(t, negative, m_.op(spv::Op::OpFNegate, t, {result}), result) : result;
}

Scalar ScalarCode::integer_to_float(ScalarType from, ScalarType to, Scalar x) {
    if (to == ScalarType::F16) {
        // Values that f32 rounds exceed the largest f16.
        return {round_to_half(integer_to_float(from, ScalarType::F32, x).id)};
    }
    if (paired(from)) return {pair_to_float(from, to, x)};
    if (from == ScalarType::U32 && to == ScalarType::F32) return {unsigned_to_f32(x.id)};
    const bool sign = is_signed_integer(from) || size_of(from) < 4;
    return {m_.op(sign ? spv::Op::OpConvertSToF : spv::Op::OpConvertUToF, type(to), {x.id})};
}

Id ScalarCode::round_to_odd(Id x) {
    const Id t = m_.float_type(32);
    const Id wide = m_.float_type(64);
    const auto magnitude = [&](Id v) { return m_.glsl(GLSLstd450FAbs, wide, {v}); };
    const Id rounded = m_.op(spv::Op::OpFConvert, t, {x});
    const Id back = m_.op(spv::Op::OpFConvert, wide, {rounded});
    const Id away = m_.op(spv::Op::OpFOrdGreaterThan, m_.bool_type(), {magnitude(back), magnitude(x)});
    const Id inexact = m_.op(spv::Op::OpFOrdNotEqual, m_.bool_type(), {back, x});
    const Id bits = bits_of_f32(rounded);
    const Id odd = or_(pick(away, sub(bits, u32(1)), bits), u32(1));
    return f32_of_bits(pick(inexact, odd, bits));
}

Scalar ScalarCode::float_to_float(ScalarType from, ScalarType to, Scalar x) {
    if (to == ScalarType::F16) return {round_to_half(from == ScalarType::F64 ? round_to_odd(x.id) : x.id)};
    if (type(from) == type(to)) return x;  // f16 is represented as f32
    return {m_.op(spv::Op::OpFConvert, type(to), {x.id})};
}

Scalar ScalarCode::float_to_pair(ScalarType from, ScalarType to, Id x) {
    const Id t = type(from);
    const bool sign = is_signed_integer(to);
    const auto compare_with = [&](spv::Op code, double limit) {
        return m_.op(code, m_.bool_type(), {x, number(from, limit)});
    };
    const Id whole = m_.glsl(GLSLstd450Trunc, t, {m_.glsl(GLSLstd450FAbs, t, {x})});
    const Id upper = m_.glsl(GLSLstd450Trunc, t, {exact(spv::Op::OpFMul, t, {whole, number(from, 0x1p-32)})});
    const Id lower =
        exact(spv::Op::OpFSub, t, {whole, exact(spv::Op::OpFMul, t, {upper, number(from, 0x1p32)})});
    const auto to_int = [&](Id v) { return m_.op(spv::Op::OpConvertFToU, m_.u32_type(), {v}); };
    Scalar r = {to_int(lower), to_int(upper)};
    const Scalar none = {u32(0), u32(0)};
    if (!sign) {
        r = pair_pick(compare_with(spv::Op::OpFOrdGreaterThanEqual, 0x1p64), {u32(~0u), u32(~0u)}, r);
        return pair_pick(compare_with(spv::Op::OpFOrdGreaterThan, 0), r, none);
    }
    r = pair_pick(compare_with(spv::Op::OpFOrdLessThan, 0), pair_negate(r), r);
    r = pair_pick(compare_with(spv::Op::OpFOrdGreaterThanEqual, 0x1p63), {u32(~0u), u32(0x7fffffffu)}, r);
    r = pair_pick(compare_with(spv::Op::OpFOrdLessThan, -0x1p63), {u32(0), u32(0x80000000u)}, r);
    return pair_pick(classify(Op::IsNan, from, x), none, r);
}

Scalar ScalarCode::float_to_integer(ScalarType from, ScalarType to, Scalar x) {
    if (paired(to)) return float_to_pair(from, to, x.id);
    if (size_of(to) < 4) {
        const Id word_value = float_to_integer(from, ScalarType::I32, x).id;
        const bool sign = is_signed_integer(to);
        const std::int32_t highest = (1 << (bits_of(to) - (sign ? 1 : 0))) - 1;
        const std::int32_t lowest = sign ? -highest - 1 : 0;
        return {m_.glsl(
            GLSLstd450SClamp, m_.u32_type(),
            {word_value, u32(static_cast<std::uint32_t>(lowest)), u32(static_cast<std::uint32_t>(highest))})};
    }
    const Id t = type(to);
    const unsigned bits = bits_of(to);
    const auto compare_with = [&](spv::Op code, double limit) {
        return m_.op(code, m_.bool_type(), {x.id, number(from, limit)});
    };
    if (!is_signed_integer(to)) {
        Id r = m_.op(spv::Op::OpConvertFToU, t, {x.id});
        r = m_.select(t,
                      compare_with(spv::Op::OpFOrdGreaterThanEqual, std::ldexp(1.0, static_cast<int>(bits))),
                      constant(to, ~std::uint64_t{0}).id, r);
        return {m_.select(t, compare_with(spv::Op::OpFOrdGreaterThan, 0), r, zero(to).id)};
    }
    const double limit = std::ldexp(1.0, static_cast<int>(bits) - 1);
    const std::uint64_t lowest = std::uint64_t{1} << (bits - 1);
    Id r = m_.op(spv::Op::OpConvertFToS, t, {x.id});
    r = m_.select(t, compare_with(spv::Op::OpFOrdGreaterThanEqual, limit), constant(to, lowest - 1).id, r);
    r = m_.select(t, compare_with(spv::Op::OpFOrdLessThan, -limit), constant(to, lowest).id, r);
    return {m_.select(t, classify(Op::IsNan, from, x.id), zero(to).id, r)};
}

}  // namespace volley::codegen::spirv
