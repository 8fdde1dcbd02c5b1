// LLVM instruction helpers, independent of kernels.
#include "codegen/llvm/code_builder.hpp"

#include "core/text.hpp"

#include <volley/error.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

namespace volley::codegen::llvm {

CodeBuilder::CodeBuilder(const LlvmApi& api, LLVMContextRef context_ref, LLVMModuleRef module_ref,
                         unsigned width, Isa instruction_set)
    : L(api),
      context(context_ref),
      module(module_ref),
      b(api.CreateBuilderInContext(context_ref)),
      W(width),
      isa(instruction_set),
      void_t(api.VoidTypeInContext(context_ref)),
      i1(api.Int1TypeInContext(context_ref)),
      i8(api.Int8TypeInContext(context_ref)),
      i16(api.Int16TypeInContext(context_ref)),
      i32(api.Int32TypeInContext(context_ref)),
      i64(api.Int64TypeInContext(context_ref)),
      f16(api.HalfTypeInContext(context_ref)),
      f32(api.FloatTypeInContext(context_ref)),
      f64(api.DoubleTypeInContext(context_ref)),
      ptr(api.PointerTypeInContext(context_ref, 0)) {}

CodeBuilder::~CodeBuilder() { L.DisposeBuilder(b); }

Type CodeBuilder::scalar(ScalarType s) const {
    switch (s) {
        case ScalarType::Bool: return i1;
        case ScalarType::I8:
        case ScalarType::U8: return i8;
        case ScalarType::I16:
        case ScalarType::U16: return i16;
        case ScalarType::I32:
        case ScalarType::U32: return i32;
        case ScalarType::I64:
        case ScalarType::U64: return i64;
        case ScalarType::F16: return f16;
        case ScalarType::F32: return f32;
        case ScalarType::F64: return f64;
    }
    return void_t;
}

Type CodeBuilder::memory_scalar(ScalarType s) const { return s == ScalarType::Bool ? i8 : scalar(s); }

Type CodeBuilder::like(Val shape, Type element_type) const {
    const Type t = L.TypeOf(shape);
    return is_vector(t) ? L.VectorType(element_type, L.GetVectorSize(t)) : element_type;
}

Val CodeBuilder::c(Type shape, std::int64_t value) const {
    const Val one = L.ConstInt(element(shape), static_cast<unsigned long long>(value), 1);
    if (!is_vector(shape)) return one;
    std::array<Val, 64> all{};
    all.fill(one);
    return L.ConstVector(all.data(), L.GetVectorSize(shape));
}

Val CodeBuilder::cf(Type shape, double value) const {
    const Val one = L.ConstReal(element(shape), value);
    if (!is_vector(shape)) return one;
    std::array<Val, 64> all{};
    all.fill(one);
    return L.ConstVector(all.data(), L.GetVectorSize(shape));
}

Val CodeBuilder::iota(Type element_type, std::int64_t step) const {
    if (W == 1) return L.ConstInt(element_type, 0, 0);
    std::array<Val, 64> all{};
    for (unsigned i = 0; i < W; ++i) {
        all[i] = L.ConstInt(element_type, static_cast<std::uint64_t>(step) * i, 1);
    }
    return L.ConstVector(all.data(), W);
}

Val CodeBuilder::load(Type t, Val p, unsigned align) {
    const Val v = L.BuildLoad2(b, t, p, "");
    if (align != 0) L.SetAlignment(v, align);
    return v;
}

void CodeBuilder::store(Val v, Val p, unsigned align) {
    const Val s = L.BuildStore(b, v, p);
    if (align != 0) L.SetAlignment(s, align);
}

void CodeBuilder::stream(Val v, Val p, unsigned align) {
    const Val s = L.BuildStore(b, v, p);
    L.SetAlignment(s, align);
    LLVMMetadataRef one = L.ValueAsMetadata(u32(1));
    constexpr std::string_view kind = "nontemporal";
    L.SetMetadata(s, L.GetMDKindIDInContext(context, kind.data(), static_cast<unsigned>(kind.size())),
                  L.MetadataAsValue(context, L.MDNodeInContext2(context, &one, 1)));
}

Val CodeBuilder::gep(Val p, Val byte_offset) { return L.BuildGEP2(b, i8, p, &byte_offset, 1, ""); }

Val CodeBuilder::splat(Val x) { return W == 1 ? x : splat(x, W); }

Val CodeBuilder::splat(Val x, unsigned n) {
    if (n == 1 || is_vector(x)) return x;
    const Type t = L.VectorType(L.TypeOf(x), n);
    if (L.IsConstant(x)) {
        std::array<Val, 64> all{};
        all.fill(x);
        return L.ConstVector(all.data(), n);
    }
    // Next to its load, the splat folds into a broadcasting load; LLVM does not fold across blocks.
    const Block here = L.GetInsertBlock(b);
    const Val next = L.IsALoadInst(x) != nullptr ? L.GetNextInstruction(x) : nullptr;
    if (next != nullptr) L.PositionBuilderBefore(b, next);
    const Val one = L.BuildInsertElement(b, L.GetPoison(t), x, u32(0), "");
    const Val all = L.BuildShuffleVector(b, one, L.GetPoison(t), L.ConstNull(L.VectorType(i32, n)), "");
    if (next != nullptr) L.PositionBuilderAtEnd(b, here);
    return all;
}

Val CodeBuilder::shuffle(Val x, Val y, std::span<const int> lanes_of_both) {
    std::array<Val, 128> index{};
    for (std::size_t i = 0; i < lanes_of_both.size(); ++i) {
        index[i] = lanes_of_both[i] < 0 ? L.GetUndef(i32) : u32(static_cast<std::uint32_t>(lanes_of_both[i]));
    }
    return L.BuildShuffleVector(b, x, y,
                                L.ConstVector(index.data(), static_cast<unsigned>(lanes_of_both.size())), "");
}

Val CodeBuilder::shuffle(Val x, std::span<const int> lanes_of_x) {
    return shuffle(x, L.GetPoison(L.TypeOf(x)), lanes_of_x);
}

Val CodeBuilder::low_words(Val x) {
    const unsigned n = is_vector(x) ? size(x) : 1;
    if (!isa.avx512 || n < 16 || n > 64) return trunc(x, like(x, i32));
    // One permutation of two registers. LLVM narrows each and joins the halves: three instructions, two of
    // which take two steps.
    std::array<int, 64> even{};
    for (unsigned l = 0; l < n; ++l) even[l] = static_cast<int>(2 * l);
    return shuffle(bitcast(x, L.VectorType(i32, 2 * n)), std::span<const int>(even.data(), n));
}

Val CodeBuilder::reversed(Val x) {
    std::array<int, 64> order{};
    for (unsigned l = 0; l < W; ++l) order[l] = static_cast<int>(W - 1 - l);
    return shuffle(x, std::span<const int>(order.data(), W));
}

Val CodeBuilder::slice(Val v, unsigned first, unsigned n) {
    if (n == size(v)) return v;
    if (n == 1) return extract(v, first);
    std::array<int, 64> index{};
    std::iota(index.begin(), index.begin() + n, static_cast<int>(first));
    return shuffle(v, std::span(index.data(), n));
}

Val CodeBuilder::concat(std::span<const Val> parts) {
    if (parts.size() == 1) return parts[0];
    if (!is_vector(parts[0])) {
        Val v = poison(vec(L.TypeOf(parts[0]), static_cast<unsigned>(parts.size())));
        for (unsigned i = 0; i < parts.size(); ++i) v = insert(v, parts[i], u32(i));
        return v;
    }
    const std::size_t half = parts.size() / 2;
    const Val low = concat(parts.first(half));
    const Val high = concat(parts.subspan(half));
    std::array<int, 128> index{};
    const unsigned n = size(low) + size(high);
    std::iota(index.begin(), index.begin() + n, 0);
    return shuffle(low, high, std::span(index.data(), n));
}

Val CodeBuilder::intrinsic(const char* name, std::initializer_list<Type> overloads,
                           std::initializer_list<Val> args) {
    const unsigned id = L.LookupIntrinsicID(name, std::strlen(name));
    if (id == 0)
        throw InternalError(cat("LLVM has no intrinsic ", name), "code generation", "report this as a bug");
    std::vector<Type> types(overloads);
    std::vector<Val> operands(args);
    const Val fn = L.GetIntrinsicDeclaration(module, id, types.data(), types.size());
    return L.BuildCall2(b, L.GlobalGetValueType(fn), fn, operands.data(),
                        static_cast<unsigned>(operands.size()), "");
}

Val CodeBuilder::call_external(const char* name, Type result, std::initializer_list<Val> args) {
    std::vector<Type> types;
    std::vector<Val> operands(args);
    types.reserve(operands.size());
    for (const Val v : operands) types.push_back(L.TypeOf(v));
    const Type type = L.FunctionType(result, types.data(), static_cast<unsigned>(types.size()), 0);
    Val fn = L.GetNamedFunction(module, name);
    if (fn == nullptr) {
        fn = L.AddFunction(module, name, type);
        externals.emplace_back(name);
    }
    return L.BuildCall2(b, type, fn, operands.data(), static_cast<unsigned>(operands.size()), "");
}

Val CodeBuilder::fma(Val x, Val y, Val z) { return intrinsic("llvm.fma", {L.TypeOf(x)}, {x, y, z}); }

Val CodeBuilder::bits(Val mask) { return bitcast(mask, L.IntTypeInContext(context, W)); }

Val CodeBuilder::any(Val mask) {
    const Val word = bits(mask);
    return icmp(LLVMIntNE, word, zero(L.TypeOf(word)));
}

Val CodeBuilder::all(Val mask) {
    const Val word = bits(mask);
    return icmp(LLVMIntEQ, word, ones(L.TypeOf(word)));
}

Type CodeBuilder::mask_type() const { return isa.avx512 || W == 1 ? lanes(i1) : lanes(i32); }

Val CodeBuilder::to_mask(Val stored) {
    if (element(stored) == i1) return stored;
    // Blends and movmsk test the sign bit.
    return icmp(LLVMIntSLT, stored, zero(L.TypeOf(stored)));
}

Val CodeBuilder::from_mask(Val mask) {
    const Type t = mask_type();
    return L.TypeOf(mask) == t ? mask : sext(mask, t);
}

Val CodeBuilder::first_active(Val mask) {
    if (mask == nullptr) return u32(0);
    const Val word = bits(mask);
    const Val wide = W < 32 ? zext(word, i32) : word;
    const Val found = intrinsic("llvm.cttz", {L.TypeOf(wide)}, {wide, L.ConstInt(i1, 0, 0)});
    const Val narrow = L.TypeOf(found) == i64 ? trunc(found, i32) : found;
    return and_(narrow, u32(W - 1));  // keeps the result in range for an empty mask
}

Val CodeBuilder::masked_load(Type t, Val p, unsigned align, Val mask, Val otherwise) {
    if (mask == nullptr) return load(t, p, align);
    return intrinsic("llvm.masked.load", {t, ptr},
                     {p, u32(align), mask, otherwise != nullptr ? otherwise : zero(t)});
}

void CodeBuilder::masked_store(Val v, Val p, unsigned align, Val mask) {
    if (mask == nullptr) {
        store(v, p, align);
    } else {
        intrinsic("llvm.masked.store", {L.TypeOf(v), ptr}, {v, p, u32(align), mask});
    }
}

Val CodeBuilder::gather(Type t, Val pointers, unsigned align, Val mask) {
    if (mask == nullptr) mask = ones(lanes(i1));
    return intrinsic("llvm.masked.gather", {t, L.TypeOf(pointers)}, {pointers, u32(align), mask, zero(t)});
}

void CodeBuilder::scatter(Val v, Val pointers, unsigned align, Val mask) {
    if (mask == nullptr) mask = ones(lanes(i1));
    intrinsic("llvm.masked.scatter", {L.TypeOf(v), L.TypeOf(pointers)}, {v, pointers, u32(align), mask});
}

void CodeBuilder::packed_store(Val v, Val p, unsigned size, Val mask) {
    if (element(v) == f16) v = bitcast(v, lanes(i16));
    if (!isa.avx512) {
        // Each lane overwrites the lane before it unless that is in the mask.
        const Val word = zext(bits(mask), i64);
        const Val packed = slot_bytes((W + 1) * size, 64);
        Val count = u64(0);
        for (unsigned l = 0; l < W; ++l) {
            store(extract(v, l), gep(packed, mul(count, u64(size))), size);
            count = add(count, and_(lshr(word, u64(l)), u64(1)));
        }
        const Val stored = icmp(LLVMIntULT, iota(i32), splat(trunc(count, i32)));
        masked_store(load(L.TypeOf(v), packed, 64), p, size, stored);
        return;
    }
    // The form of the instruction that stores is slow on some processors.
    const Type memory = element(v);
    if (size < 4) v = zext(v, lanes(i32));
    const unsigned n = std::min(W, size == 8 ? 8U : 16U);
    for (unsigned first = 0; first < W; first += n) {
        const Val part = slice(v, first, n);
        const Val here = slice(mask, first, n);
        const Type word = L.IntTypeInContext(context, n);
        const Val count = intrinsic("llvm.ctpop", {i32}, {zext(bitcast(here, word), i32)});
        Val packed =
            intrinsic("llvm.x86.avx512.mask.compress", {L.TypeOf(part)}, {part, zero(L.TypeOf(part)), here});
        if (size < 4) packed = trunc(packed, vec(memory, n));
        const Val stored = trunc(not_(shl(ones(i32), count)), word);
        masked_store(packed, p, size, bitcast(stored, vec(i1, n)));
        if (first + n < W) p = gep(p, mul(zext(count, i64), u64(size)));
    }
}

Block CodeBuilder::block(const char* name) { return L.AppendBasicBlockInContext(context, function, name); }

Val CodeBuilder::slot(Type t, unsigned align) {
    const Block now = here();
    at(entry);
    const Val p = L.BuildAlloca(b, t, "");
    if (align != 0) L.SetAlignment(p, align);
    at(now);
    return p;
}

Val CodeBuilder::slot_bytes(std::uint64_t bytes, unsigned align) {
    const Block now = here();
    at(entry);
    const Val p = L.BuildArrayAlloca(b, i8, u64(bytes), "");
    L.SetAlignment(p, align);
    at(now);
    return p;
}

}  // namespace volley::codegen::llvm
