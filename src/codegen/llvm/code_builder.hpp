// Short names for LLVM instructions over W lanes: types, constants, masks, shuffles, vector memory.
//
// A scalar is one LLVM scalar; `lanes` are <W x T>. With W = 1 everything is scalar and there is no lane
// form. Booleans are i1; masks stored in variables have their own type (mask_type), because AVX2 handles
// stored <W x i1> poorly.
#pragma once

#include "codegen/llvm/llvm_api.hpp"

#include <volley/dtype.hpp>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace volley::codegen::llvm {

using Val = LLVMValueRef;
using Type = LLVMTypeRef;
using Block = LLVMBasicBlockRef;

/// Properties of the target's vector instructions, used to choose between equivalent instruction sequences.
struct Isa {
    bool x86 = false;
    bool avx = false;
    bool avx2 = false;
    bool avx512 = false;  // F, BW, DQ and VL
    bool fma = false;
};

class CodeBuilder {
public:
    CodeBuilder(const LlvmApi& api, LLVMContextRef context, LLVMModuleRef module, unsigned width, Isa isa);
    ~CodeBuilder();
    CodeBuilder(const CodeBuilder&) = delete;
    CodeBuilder& operator=(const CodeBuilder&) = delete;

    const LlvmApi& L;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    const unsigned W;
    const Isa isa;

    // Types
    Type void_t, i1, i8, i16, i32, i64, f16, f32, f64, ptr;
    [[nodiscard]] Type scalar(ScalarType s) const;         // bool is i1
    [[nodiscard]] Type memory_scalar(ScalarType s) const;  // bool is i8
    [[nodiscard]] Type vec(Type element, unsigned n) const { return L.VectorType(element, n); }
    [[nodiscard]] Type lanes(Type element) const { return W == 1 ? element : L.VectorType(element, W); }
    [[nodiscard]] bool is_vector(Type t) const { return L.GetTypeKind(t) == LLVMVectorTypeKind; }
    [[nodiscard]] bool is_vector(Val v) const { return is_vector(L.TypeOf(v)); }
    [[nodiscard]] Type element(Type t) const { return is_vector(t) ? L.GetElementType(t) : t; }
    [[nodiscard]] Type element(Val v) const { return element(L.TypeOf(v)); }
    [[nodiscard]] unsigned size(Type t) const { return is_vector(t) ? L.GetVectorSize(t) : 1; }
    [[nodiscard]] unsigned size(Val v) const { return size(L.TypeOf(v)); }
    /// Returns `element` as a scalar or vector type, in the shape of `shape`.
    [[nodiscard]] Type like(Val shape, Type element) const;

    // Constants; `shape` is a scalar or vector type whose elements all get the value
    [[nodiscard]] Val c(Type shape, std::int64_t value) const;
    [[nodiscard]] Val cf(Type shape, double value) const;
    [[nodiscard]] Val u32(std::uint32_t v) const { return L.ConstInt(i32, v, 0); }
    [[nodiscard]] Val u64(std::uint64_t v) const { return L.ConstInt(i64, v, 0); }
    [[nodiscard]] Val zero(Type t) const { return L.ConstNull(t); }
    [[nodiscard]] Val ones(Type t) const { return L.ConstAllOnes(t); }
    [[nodiscard]] Val poison(Type t) const { return L.GetPoison(t); }
    /// <0, 1, 2, ...> * step as a vector of W integers (a scalar 0 if W = 1).
    [[nodiscard]] Val iota(Type element, std::int64_t step = 1) const;

    // Instructions
    Val add(Val x, Val y) { return L.BuildAdd(b, x, y, ""); }
    Val sub(Val x, Val y) { return L.BuildSub(b, x, y, ""); }
    Val mul(Val x, Val y) { return L.BuildMul(b, x, y, ""); }
    Val and_(Val x, Val y) { return L.BuildAnd(b, x, y, ""); }
    Val or_(Val x, Val y) { return L.BuildOr(b, x, y, ""); }
    Val xor_(Val x, Val y) { return L.BuildXor(b, x, y, ""); }
    Val not_(Val x) { return L.BuildNot(b, x, ""); }
    Val shl(Val x, Val y) { return L.BuildShl(b, x, y, ""); }
    Val lshr(Val x, Val y) { return L.BuildLShr(b, x, y, ""); }
    Val ashr(Val x, Val y) { return L.BuildAShr(b, x, y, ""); }
    Val fadd(Val x, Val y) { return L.BuildFAdd(b, x, y, ""); }
    Val fsub(Val x, Val y) { return L.BuildFSub(b, x, y, ""); }
    Val fmul(Val x, Val y) { return L.BuildFMul(b, x, y, ""); }
    Val fdiv(Val x, Val y) { return L.BuildFDiv(b, x, y, ""); }
    Val fneg(Val x) { return L.BuildFNeg(b, x, ""); }
    Val icmp(LLVMIntPredicate p, Val x, Val y) { return L.BuildICmp(b, p, x, y, ""); }
    Val fcmp(LLVMRealPredicate p, Val x, Val y) { return L.BuildFCmp(b, p, x, y, ""); }
    Val select(Val cond, Val x, Val y) { return L.BuildSelect(b, cond, x, y, ""); }
    Val bitcast(Val x, Type t) { return L.BuildBitCast(b, x, t, ""); }
    Val zext(Val x, Type t) { return L.TypeOf(x) == t ? x : L.BuildZExt(b, x, t, ""); }
    Val sext(Val x, Type t) { return L.TypeOf(x) == t ? x : L.BuildSExt(b, x, t, ""); }
    Val trunc(Val x, Type t) { return L.TypeOf(x) == t ? x : L.BuildTrunc(b, x, t, ""); }
    Val low_words(Val x);  // the low halves of 64-bit integers
    Val load(Type t, Val p, unsigned align);
    void store(Val v, Val p, unsigned align);
    void stream(Val v, Val p, unsigned align);  // non-temporal; p must be aligned to `align`
    Val gep(Val p, Val byte_offset);  // p + byte_offset; a vector of offsets returns a vector of pointers
    Val gep(Val p, std::int64_t byte_offset) {
        return byte_offset == 0 ? p : gep(p, u64(static_cast<std::uint64_t>(byte_offset)));
    }
    Val extract(Val v, unsigned lane) {
        return is_vector(v) ? L.BuildExtractElement(b, v, u32(lane), "") : v;
    }
    Val extract(Val v, Val lane) { return is_vector(v) ? L.BuildExtractElement(b, v, lane, "") : v; }
    Val insert(Val v, Val x, Val lane) { return L.BuildInsertElement(b, v, x, lane, ""); }
    Val splat(Val x);                                               // over W lanes
    Val splat(Val x, unsigned n);                                   // over n lanes
    Val shuffle(Val x, Val y, std::span<const int> lanes_of_both);  // -1: undefined lane
    Val shuffle(Val x, std::span<const int> lanes_of_x);
    Val reversed(Val x);                           // the lanes in the opposite order
    Val slice(Val v, unsigned first, unsigned n);  // n lanes from `first`; a scalar if n = 1
    Val concat(std::span<const Val> parts);        // all of one type
    Val intrinsic(const char* name, std::initializer_list<Type> overloads, std::initializer_list<Val> args);
    /// Calls a function that the JIT resolves by name to `address`; arguments and result are passed by value.
    Val call_external(const char* name, Type result, std::initializer_list<Val> args);
    Val fma(Val x, Val y, Val z);

    // Masks: <W x i1> values; a null Val means "all lanes". Not used if W = 1.
    Val any(Val mask);                     // i1
    Val all(Val mask);                     // i1
    Val bits(Val mask);                    // iW with lane l in bit l
    [[nodiscard]] Type mask_type() const;  // type of variables that hold a mask
    Val to_mask(Val stored);               // mask_type -> <W x i1>
    Val from_mask(Val mask);               // <W x i1> -> mask_type
    Val both(Val m, Val n) { return m == nullptr ? n : n == nullptr ? m : and_(m, n); }
    /// Returns the index of the first active lane as i32; 0 for "all lanes".
    Val first_active(Val mask);

    Val masked_load(Type t, Val p, unsigned align, Val mask, Val otherwise);
    void masked_store(Val v, Val p, unsigned align, Val mask);
    Val gather(Type t, Val pointers, unsigned align, Val mask);
    void scatter(Val v, Val pointers, unsigned align, Val mask);

    /// Returns whether packed_store() takes elements of this size.
    [[nodiscard]] bool can_pack(unsigned size) const { return isa.avx512 || (isa.avx && size >= 4); }
    /// Stores the lanes in the mask to consecutive elements from p. Writes no other element.
    void packed_store(Val v, Val p, unsigned size, Val mask);

    // Blocks
    Block block(const char* name);  // at the end of the function
    void at(Block block) { L.PositionBuilderAtEnd(b, block); }
    void br(Block to) { L.BuildBr(b, to); }
    void br(Val cond, Block yes, Block no) { L.BuildCondBr(b, cond, yes, no); }
    [[nodiscard]] Block here() const { return L.GetInsertBlock(b); }
    [[nodiscard]] bool terminated() const { return L.GetBasicBlockTerminator(here()) != nullptr; }
    /// Returns a stack slot in the entry block.
    Val slot(Type t, unsigned align = 0);
    Val slot_bytes(std::uint64_t bytes, unsigned align);

    Val function = nullptr;
    Block entry = nullptr;               // holds only stack slots; branches to the first real block
    std::vector<std::string> externals;  // names passed to call_external
};

}  // namespace volley::codegen::llvm
