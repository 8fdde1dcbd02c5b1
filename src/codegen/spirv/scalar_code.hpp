// Code for operations on scalars, with missing target features emulated (docs/ir.md sections 3 to 5).
//
// Representation: bool as OpTypeBool; 8 and 16-bit integers as 32-bit ones, always sign- or zero-extended;
// f16 as an f32 that always holds an f16 value; 64-bit types that the target lacks as two words. All other
// types are themselves. SPIR-V integer types are always unsigned here: signedness is a property of
// operations.
#pragma once

#include "codegen/api/refusal.hpp"
#include "codegen/spirv/compiler.hpp"
#include "codegen/spirv/module_builder.hpp"
#include "ir/function.hpp"

#include <string_view>

namespace volley::codegen::spirv {

struct Scalar {
    Id id = 0;
    Id high = 0;  // the high word of a pair, else 0
};

class ScalarCode {
public:
    ScalarCode(ModuleBuilder& module, const Target& target, const EmittedNode& site)
        : m_(module), target_(target), site_(site) {}

    [[nodiscard]] bool paired(ScalarType s) const {
        return (size_of(s) == 8) && (s == ScalarType::F64 ? !target_.f64 : !target_.i64);
    }
    Id type(ScalarType s);  // of the representation, or of a pair's words
    Scalar constant(ScalarType s, std::uint64_t bits);
    Scalar zero(ScalarType s) { return constant(s, 0); }

    /// Applies an elementwise operation to operands of type `s`; comparisons return bools. `loose` lets fma
    /// round twice.
    Scalar apply(ir::Op op, ScalarType s, Scalar x, Scalar y = {}, Scalar z = {}, bool loose = false);
    Scalar convert(ScalarType from, ScalarType to, Scalar x);
    Scalar select(ScalarType s, Id condition, Scalar a, Scalar b);

    /// Returns the bits as words: one, or two for 64-bit types; bits above the type's width are zero.
    Scalar to_words(ScalarType s, Scalar x);
    Scalar from_words(ScalarType s, Id low, Id high = 0);
    /// Converts a word to the representation of a narrow integer.
    Id narrow(ScalarType s, Id word);
    /// Converts the f16 bits in the low half of a word to f32, and back.
    Id half_value(Id word, bool payload = true);
    Id half_bits(Id value, bool payload = true);
    Id round_to_half(Id value);  // f32

    // 32-bit building blocks, also used for the emitter's index arithmetic.
    Id u32(std::uint32_t v) { return m_.u32(v); }
    Id add(Id a, Id b) { return word(spv::Op::OpIAdd, a, b); }
    Id sub(Id a, Id b) { return word(spv::Op::OpISub, a, b); }
    Id mul(Id a, Id b) { return word(spv::Op::OpIMul, a, b); }
    Id and_(Id a, Id b) { return word(spv::Op::OpBitwiseAnd, a, b); }
    Id or_(Id a, Id b) { return word(spv::Op::OpBitwiseOr, a, b); }
    Id xor_(Id a, Id b) { return word(spv::Op::OpBitwiseXor, a, b); }
    Id not_(Id a) { return m_.op(spv::Op::OpNot, m_.u32_type(), {a}); }
    Id shl(Id a, Id b) { return word(spv::Op::OpShiftLeftLogical, a, b); }
    Id shr(Id a, Id b) { return word(spv::Op::OpShiftRightLogical, a, b); }
    Id sar(Id a, Id b) { return word(spv::Op::OpShiftRightArithmetic, a, b); }
    Id eq(Id a, Id b) { return test(spv::Op::OpIEqual, a, b); }
    Id ne(Id a, Id b) { return test(spv::Op::OpINotEqual, a, b); }
    Id ult(Id a, Id b) { return test(spv::Op::OpULessThan, a, b); }
    Id ule(Id a, Id b) { return test(spv::Op::OpULessThanEqual, a, b); }
    Id slt(Id a, Id b) { return test(spv::Op::OpSLessThan, a, b); }
    Id both(Id a, Id b) { return test(spv::Op::OpLogicalAnd, a, b); }
    Id either(Id a, Id b) { return test(spv::Op::OpLogicalOr, a, b); }
    Id negated(Id a) { return m_.op(spv::Op::OpLogicalNot, m_.bool_type(), {a}); }
    Id pick(Id condition, Id a, Id b) { return m_.select(m_.u32_type(), condition, a, b); }
    Id bits_of_f32(Id v) { return m_.op(spv::Op::OpBitcast, m_.u32_type(), {v}); }
    Id f32_of_bits(Id v) { return m_.op(spv::Op::OpBitcast, m_.float_type(32), {v}); }
    /// Converts 64-bit values between their native type and words.
    Scalar split(Id wide);
    Id join(Id type, Id low, Id high);
    /// 64-bit arithmetic in words, for device addresses: base + index * scale + offset.
    Scalar pair_add(Scalar a, Scalar b);
    Scalar pair_mul(Scalar a, Scalar b);
    Scalar multiply_words(Id a, Id b);  // 32 x 32 -> 64

private:
    Id word(spv::Op op, Id a, Id b) { return m_.op(op, m_.u32_type(), {a, b}); }
    Id test(spv::Op op, Id a, Id b) { return m_.op(op, m_.bool_type(), {a, b}); }
    Id exact(spv::Op op, Id type, std::initializer_list<Id> operands);  // float arithmetic, not contracted
    Id number(ScalarType s, double v);                                  // a float constant

    // scalar_code.cpp
    Id logic(ir::Op op, Id x, Id y);
    Id integer(ir::Op op, ScalarType s, Id x, Id y, Id z);
    Id divide(bool remainder, ScalarType s, Id x, Id y);
    Id count_bits(ir::Op op, ScalarType s, Id x);
    Id compare(ir::Op op, ScalarType s, Id x, Id y);

    // scalar_float.cpp
    Id floating(ir::Op op, ScalarType s, Id x, Id y, Id z, bool loose);
    [[nodiscard]] bool is_zero(ScalarType s, Id v) const;  // a constant
    Id change_sign(ir::Op op, ScalarType s, Id x);
    [[nodiscard]] bool native_halves();
    Id without_zero(ir::Op op, ScalarType s, Id x, Id y);
    Id classify(ir::Op op, ScalarType s, Id x);
    Id fused(ScalarType s, Id x, Id y, Id z);
    Id fused_f32_function();
    Id fused_f64_function();
    Id two_sum_error(Id type, Id a, Id b, Id sum);
    Id odd_sum(Id a, Id b);

    // scalar_pair.cpp: 64-bit integers as two words
    Scalar pair(ir::Op op, ScalarType s, Scalar x, Scalar y, Scalar z);
    Scalar pair_negate(Scalar x);
    Scalar pair_sub(Scalar a, Scalar b);
    Scalar pair_shift(ir::Op op, ScalarType s, Scalar x, Scalar y);
    Scalar pair_divide(bool remainder, ScalarType s, Scalar x, Scalar y);
    Scalar pair_pick(Id condition, Scalar a, Scalar b);
    Id pair_less(ScalarType s, Scalar a, Scalar b);
    Id pair_equal(Scalar a, Scalar b);
    Id pair_compare(ir::Op op, ScalarType s, Scalar a, Scalar b);
    Id divide_function();

    // scalar_convert.cpp
    Scalar integer_to_integer(ScalarType from, ScalarType to, Scalar x);
    Scalar integer_to_float(ScalarType from, ScalarType to, Scalar x);
    Scalar float_to_integer(ScalarType from, ScalarType to, Scalar x);
    Scalar float_to_float(ScalarType from, ScalarType to, Scalar x);
    Id unsigned_to_f32(Id word);
    Scalar float_to_pair(ScalarType from, ScalarType to, Id x);
    Id pair_to_float(ScalarType from, ScalarType to, Scalar x);
    Id round_to_odd(Id f64);  // to f32, for a second rounding

    ModuleBuilder& m_;
    const Target& target_;
    const EmittedNode& site_;

    Id divide_ = 0, fused32_ = 0, fused64_ = 0;
};

}  // namespace volley::codegen::spirv
