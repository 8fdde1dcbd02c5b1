// Representation, bools, and integers of up to 64 native bits.
#include "codegen/spirv/scalar_code.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/half.hpp>

#include <bit>

namespace volley::codegen::spirv {

using ir::Op;

Id ScalarCode::type(ScalarType s) {
    switch (s) {
        case ScalarType::Bool: return m_.bool_type();
        case ScalarType::I64:
        case ScalarType::U64: return target_.i64 ? m_.int_type(64) : m_.u32_type();
        case ScalarType::F16:
        case ScalarType::F32: return m_.float_type(32);
        case ScalarType::F64: return target_.f64 ? m_.float_type(64) : m_.u32_type();
        default: return m_.u32_type();
    }
}

Scalar ScalarCode::constant(ScalarType s, std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits);
    if (paired(s)) return {m_.u32(low), m_.u32(static_cast<std::uint32_t>(bits >> 32))};
    switch (s) {
        case ScalarType::Bool: return {m_.boolean(bits != 0)};
        case ScalarType::I8: return {m_.u32(static_cast<std::uint32_t>(static_cast<std::int8_t>(low)))};
        case ScalarType::I16: return {m_.u32(static_cast<std::uint32_t>(static_cast<std::int16_t>(low)))};
        case ScalarType::F16:
            return {m_.f32(static_cast<float>(std::bit_cast<half>(static_cast<std::uint16_t>(low))))};
        case ScalarType::I64:
        case ScalarType::U64:
        case ScalarType::F64: return {m_.constant64(type(s), bits)};
        default: return {m_.constant(type(s), low)};
    }
}

Scalar ScalarCode::select(ScalarType s, Id condition, Scalar a, Scalar b) {
    if (a.id == b.id && a.high == b.high) return a;
    const Id t = type(s);
    const Id low = m_.select(t, condition, a.id, b.id);
    return {low, a.high != 0 ? m_.select(t, condition, a.high, b.high) : 0};
}

Scalar ScalarCode::apply(Op op, ScalarType s, Scalar x, Scalar y, Scalar z, bool loose) {
    if (s == ScalarType::Bool) return {logic(op, x.id, y.id)};
    if (is_float(s)) {
        if (s == ScalarType::F64 && !target_.f64)
            site_.refuse("64-bit floats (f64)", "use float, or run the kernel on a device that has f64");
        return {floating(op, s, x.id, y.id, z.id, loose)};
    }
    if (paired(s)) return pair(op, s, x, y, z);
    return {integer(op, s, x.id, y.id, z.id)};
}

Id ScalarCode::logic(Op op, Id x, Id y) {
    switch (op) {
        case Op::And: return both(x, y);
        case Op::Or: return either(x, y);
        case Op::Xor:
        case Op::Ne: return test(spv::Op::OpLogicalNotEqual, x, y);
        case Op::Eq: return test(spv::Op::OpLogicalEqual, x, y);
        case Op::Not: return negated(x);
        default: break;
    }
    fail_internal(cat("no SPIR-V for ", ir::mnemonic(op), " of bool"), site_.fn.name);
}

Id ScalarCode::narrow(ScalarType s, Id v) {
    switch (s) {
        case ScalarType::U8: return and_(v, u32(0xff));
        case ScalarType::U16: return and_(v, u32(0xffff));
        case ScalarType::I8:
        case ScalarType::I16:
            return m_.op(spv::Op::OpBitFieldSExtract, m_.u32_type(), {v, u32(0), u32(bits_of(s))});
        default: return v;
    }
}

Id ScalarCode::compare(Op op, ScalarType s, Id x, Id y) {
    const bool sign = is_signed_integer(s);
    switch (op) {
        case Op::Eq: return test(spv::Op::OpIEqual, x, y);
        case Op::Ne: return test(spv::Op::OpINotEqual, x, y);
        case Op::Lt: return test(sign ? spv::Op::OpSLessThan : spv::Op::OpULessThan, x, y);
        case Op::Le: return test(sign ? spv::Op::OpSLessThanEqual : spv::Op::OpULessThanEqual, x, y);
        case Op::Gt: return test(sign ? spv::Op::OpSGreaterThan : spv::Op::OpUGreaterThan, x, y);
        case Op::Ge: return test(sign ? spv::Op::OpSGreaterThanEqual : spv::Op::OpUGreaterThanEqual, x, y);
        default: break;
    }
    fail_internal(cat("no SPIR-V for ", ir::mnemonic(op)), site_.fn.name);
}

Id ScalarCode::divide(bool remainder, ScalarType s, Id x, Id y) {
    const Id t = type(s);
    const bool sign = is_signed_integer(s);
    const Scalar one = constant(s, 1);
    const auto known = m_.constant_bits(y);
    Id divisor = y;
    if (!known || *known == 0 || *known == 0xffffffffu || *known == ~std::uint64_t{0}) {
        // a / 0 = a and a rem 0 = 0 are computed by dividing by 1 instead; so is lowest / -1 = lowest.
        Id unsafe = test(spv::Op::OpIEqual, y, zero(s).id);
        if (sign && bits_of(s) >= 32) {
            const std::uint64_t lowest = std::uint64_t{1} << (bits_of(s) - 1);
            const Id edge = both(test(spv::Op::OpIEqual, x, constant(s, lowest).id),
                                 test(spv::Op::OpIEqual, y, constant(s, ~std::uint64_t{0}).id));
            unsafe = either(unsafe, edge);
        }
        divisor = m_.select(t, unsafe, one.id, y);
    }
    if (remainder) return m_.op(sign ? spv::Op::OpSRem : spv::Op::OpUMod, t, {x, divisor});
    return m_.op(sign ? spv::Op::OpSDiv : spv::Op::OpUDiv, t, {x, divisor});
}

// The GLSL and core instructions for these support only 32 bits.
Id ScalarCode::count_bits(Op op, ScalarType s, Id x) {
    const Id t = m_.u32_type();
    const unsigned bits = bits_of(s);
    if (bits == 64) {
        const Scalar halves = split(x);
        const Scalar r = pair(op, s, halves, {}, {});
        return join(type(s), r.id, r.high);
    }
    const Id masked = bits < 32 && is_signed_integer(s) ? and_(x, u32((1u << bits) - 1)) : x;
    switch (op) {
        case Op::PopCount: return m_.op(spv::Op::OpBitCount, t, {masked});
        case Op::Clz: return sub(u32(bits - 1), m_.glsl(GLSLstd450FindUMsb, t, {masked}));  // -1 for zero
        case Op::Ctz:
            return m_.glsl(GLSLstd450UMin, t, {m_.glsl(GLSLstd450FindILsb, t, {masked}), u32(bits)});
        default: break;
    }
    const Id reversed = m_.op(spv::Op::OpBitReverse, t, {x});
    if (bits == 32) return reversed;
    return is_signed_integer(s) ? sar(reversed, u32(32 - bits)) : shr(reversed, u32(32 - bits));
}

Id ScalarCode::integer(Op op, ScalarType s, Id x, Id y, Id z) {
    const Id t = type(s);
    const bool sign = is_signed_integer(s);
    const unsigned bits = bits_of(s);
    const auto made = [&](spv::Op code, std::initializer_list<Id> operands) {
        return narrow(s, m_.op(code, t, operands));
    };
    const auto amount = [&] { return m_.op(spv::Op::OpBitwiseAnd, t, {y, constant(s, bits - 1).id}); };
    switch (op) {
        case Op::Neg: return made(spv::Op::OpSNegate, {x});
        case Op::Abs:
            if (!sign) return x;
            return m_.select(t, compare(Op::Lt, s, x, zero(s).id), made(spv::Op::OpSNegate, {x}), x);
        case Op::Sign: {
            const Id positive =
                m_.select(t, compare(Op::Ne, s, x, zero(s).id), constant(s, 1).id, zero(s).id);
            if (!sign) return positive;
            const Id shifted =
                m_.op(spv::Op::OpShiftRightArithmetic, t, {x, bits == 64 ? constant(s, 63).id : u32(31)});
            return m_.op(spv::Op::OpBitwiseOr, t, {shifted, positive});
        }
        case Op::Add: return made(spv::Op::OpIAdd, {x, y});
        case Op::Sub: return made(spv::Op::OpISub, {x, y});
        case Op::Mul: return made(spv::Op::OpIMul, {x, y});
        case Op::Fma: return made(spv::Op::OpIAdd, {m_.op(spv::Op::OpIMul, t, {x, y}), z});
        case Op::Div: return sign ? narrow(s, divide(false, s, x, y)) : divide(false, s, x, y);
        case Op::Rem: return divide(true, s, x, y);
        case Op::Min: return m_.select(t, compare(Op::Lt, s, x, y), x, y);
        case Op::Max: return m_.select(t, compare(Op::Lt, s, x, y), y, x);
        case Op::And: return m_.op(spv::Op::OpBitwiseAnd, t, {x, y});
        case Op::Or: return m_.op(spv::Op::OpBitwiseOr, t, {x, y});
        case Op::Xor: return m_.op(spv::Op::OpBitwiseXor, t, {x, y});
        case Op::Not: return sign ? m_.op(spv::Op::OpNot, t, {x}) : made(spv::Op::OpNot, {x});
        case Op::Shl: return made(spv::Op::OpShiftLeftLogical, {x, amount()});
        case Op::Shr:
            return m_.op(sign ? spv::Op::OpShiftRightArithmetic : spv::Op::OpShiftRightLogical, t,
                         {x, amount()});
        case Op::PopCount:
        case Op::Clz:
        case Op::Ctz:
        case Op::ReverseBits: return count_bits(op, s, x);
        default: return compare(op, s, x, y);
    }
}

// ---- bits ----

Scalar ScalarCode::split(Id wide) {
    const Id t = m_.u32_type();
    const Id words = m_.op(spv::Op::OpBitcast, m_.vector_type(t, 2), {wide});
    return {m_.extract(words, t, 0), m_.extract(words, t, 1)};
}

Id ScalarCode::join(Id type, Id low, Id high) {
    const Id words = m_.op(spv::Op::OpCompositeConstruct, m_.vector_type(m_.u32_type(), 2), {low, high});
    return m_.op(spv::Op::OpBitcast, type, {words});
}

Scalar ScalarCode::to_words(ScalarType s, Scalar x) {
    if (paired(s)) return x;
    switch (s) {
        case ScalarType::Bool: return {pick(x.id, u32(1), u32(0))};
        case ScalarType::I8: return {and_(x.id, u32(0xff))};
        case ScalarType::I16: return {and_(x.id, u32(0xffff))};
        case ScalarType::F16: return {half_bits(x.id)};
        case ScalarType::F32: return {bits_of_f32(x.id)};
        case ScalarType::I64:
        case ScalarType::U64:
        case ScalarType::F64: return split(x.id);
        default: return {x.id};
    }
}

Scalar ScalarCode::from_words(ScalarType s, Id low, Id high) {
    if (paired(s)) return {low, high};
    switch (s) {
        case ScalarType::Bool: return {ne(low, u32(0))};
        case ScalarType::F16: return {half_value(low)};
        case ScalarType::F32: return {f32_of_bits(low)};
        case ScalarType::I64:
        case ScalarType::U64:
        case ScalarType::F64: return {join(type(s), low, high)};
        default: return {narrow(s, low)};
    }
}

}  // namespace volley::codegen::spirv
