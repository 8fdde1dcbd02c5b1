// Names of CUDA C++.
#include "codegen/cuda/cuda_dialect.hpp"

#include "core/text.hpp"

#include <array>

namespace volley::codegen::cuda {

using ir::Op;

namespace {

constexpr std::array<char, 3> axes = {'x', 'y', 'z'};

}  // namespace

std::string_view CudaDialect::type(ScalarType s) const {
    switch (s) {
        case ScalarType::Bool: return "bool";
        case ScalarType::I8: return "i8";
        case ScalarType::U8: return "u8";
        case ScalarType::I16: return "i16";
        case ScalarType::U16:
        case ScalarType::F16: return "u16";
        case ScalarType::I32: return "int";
        case ScalarType::U32: return "u32";
        case ScalarType::I64: return "i64";
        case ScalarType::U64: return "u64";
        case ScalarType::F32: return "float";
        case ScalarType::F64: break;
    }
    return "double";
}

std::string_view CudaDialect::infinity(ScalarType s) const {
    return s == ScalarType::F64 ? "__longlong_as_double(0x7ff0000000000000ll)"
                                : "__uint_as_float(0x7f800000u)";
}

std::string CudaDialect::reinterpret(ScalarType to, ScalarType, std::string_view x) const {
    switch (to) {
        case ScalarType::F32: return cat("__uint_as_float(", x, ')');
        case ScalarType::F64: return cat("__longlong_as_double((i64)(", x, "))");
        case ScalarType::U64: return cat("(u64)__double_as_longlong(", x, ')');
        default: return cat("__float_as_uint(", x, ')');
    }
}

// "exact" selects a helper that operates on the bits; the instruction may change NaNs.
std::string_view CudaDialect::function(Op op, ScalarType s) const {
    const bool wide = s == ScalarType::F64;
    switch (op) {
        case Op::Mul: return wide ? "__dmul_rn" : "__fmul_rn";
        case Op::Div: return wide ? "__ddiv_rn" : "__fdiv_rn";
        case Op::Sqrt: return wide ? "__dsqrt_rn" : "__fsqrt_rn";
        case Op::Fma: return wide ? "__fma_rn" : "__fmaf_rn";
        case Op::Neg:
        case Op::Abs: return "exact";
        case Op::Floor: return wide ? "floor" : "floorf";
        case Op::Ceil: return wide ? "ceil" : "ceilf";
        case Op::Trunc: return wide ? "trunc" : "truncf";
        case Op::Round: return wide ? "round" : "roundf";
        case Op::RoundEven: return wide ? "rint" : "rintf";
        default: return {};
    }
}

std::string_view CudaDialect::half_to_float() const {
    return "float result;\nasm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(result) : \"h\"(x));\nreturn result;";
}

std::string_view CudaDialect::float_to_half() const {
    return "u16 result;\nasm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(result) : \"f\"(x));\nreturn result;";
}

std::string CudaDialect::fence(ir::FenceScope scope) const {
    const bool block = scope == ir::FenceScope::Shared || scope == ir::FenceScope::Group;
    return block ? "__threadfence_block();" : "__threadfence();";
}

std::string CudaDialect::atomic(Op op, ScalarType s, std::string_view pointer, std::string_view operand,
                                std::string_view desired) const {
    const auto name = [&]() -> std::string_view {
        switch (op) {
            case Op::AtomicAdd:
            case Op::AtomicSub: return "atomicAdd";
            case Op::AtomicMin: return "atomicMin";
            case Op::AtomicMax: return "atomicMax";
            case Op::AtomicAnd: return "atomicAnd";
            case Op::AtomicOr: return "atomicOr";
            case Op::AtomicXor: return "atomicXor";
            case Op::AtomicExchange: return "atomicExch";
            default: return "atomicCAS";
        }
    };
    // Signed integers have their own min and max; other operations use the unsigned type.
    const bool extreme = op == Op::AtomicMin || op == Op::AtomicMax;
    const bool cast = is_signed_integer(s) && !extreme;
    const std::string_view bits = size_of(s) == 8 ? "u64" : "u32";
    const std::string_view t = cast ? bits : type(s);
    const auto given = [&](std::string_view x) {
        return cast ? cat('(', bits, ")(", x, ')') : std::string(x);
    };
    std::string x = given(operand);
    if (op == Op::AtomicSub) x = is_float(s) ? cat("-(", x, ')') : cat("(", bits, ")0 - (", x, ')');
    return cat(name(), "((", t, "*)", pointer, ", ", x, desired.empty() ? "" : ", ",
               desired.empty() ? std::string() : given(desired), ')');
}

bool CudaDialect::has_float_atomic(Op op, ScalarType) const {
    return op == Op::AtomicAdd || op == Op::AtomicSub;
}

std::string CudaDialect::global_id(unsigned d, std::uint32_t local) const {
    if (local == 1) return group_id(d);
    return cat("blockIdx.", axes[d], " * ", local, "u + threadIdx.", axes[d]);
}
std::string CudaDialect::local_id(unsigned d) const { return cat("threadIdx.", axes[d]); }
std::string CudaDialect::group_id(unsigned d) const { return cat("blockIdx.", axes[d]); }

// A full warp folds in doubling steps, a partial one lane by lane. Scans always follow lane order; docs/ir.md
// leaves the order of folds open. The sum does not start at the identity: 0 + -0 would lose the sign.
std::string CudaDialect::fold_body(const ir::Fold& fold, ScalarType s, std::string_view identity,
                                   const Combine& combined) const {
    const std::string_view t = type(s);
    std::string text = "const u32 active = __activemask();\n";
    if (fold.scan == ir::Scan::None) {
        text += cat(
            "if (active == 0xffffffffu) {\n    for (int step = 16; step > 0; step /= 2) {\n        const ", t,
            " other = __shfl_xor_sync(active, x, step);\n        x = ", combined("x", "other"),
            ";\n    }\n    return x;\n}\n");
        text += cat("u32 left = active & (active - 1u);\n", t,
                    " sum = __shfl_sync(active, x, __ffs(active) - 1);\n",
                    "for (; left != 0u; left &= left - 1u) {\n    const ", t,
                    " other = __shfl_sync(active, x, __ffs(left) - 1);\n    sum = ", combined("sum", "other"),
                    ";\n}\nreturn sum;");
        return text;
    }
    const bool exclusive = fold.scan == ir::Scan::Exclusive;
    text += "u32 lane;\nasm(\"mov.u32 %0, %%laneid;\" : \"=r\"(lane));\n";
    text += cat(t, " sum = ", identity, ";\nbool begun = false;\n",
                "for (u32 left = active; left != 0u; left &= left - 1u) {\n    const u32 from = __ffs(left) "
                "- 1;\n    const ",
                t, " other = __shfl_sync(active, x, from);\n    if (from ",
                exclusive ? "<" : "<=", " lane) {\n        sum = begun ? ", combined("sum", "other"),
                " : other;\n        begun = true;\n    }\n}\nreturn sum;");
    return text;
}

std::string CudaDialect::shuffle(ScalarType, std::string_view x, std::string_view lane) const {
    return cat("__shfl_sync(__activemask(), ", x, ", ", lane, ')');
}

std::string CudaDialect::ballot_body(unsigned) const { return "return __ballot_sync(__activemask(), vote);"; }

std::string_view CudaDialect::elect() const { return "__ffs(__activemask()) - 1 == (int)subgroup_lane"; }

std::string CudaDialect::prelude() const {
    return "typedef signed char i8;\ntypedef unsigned char u8;\ntypedef short i16;\ntypedef unsigned short "
           "u16;\n"
           "typedef unsigned int u32;\ntypedef long long i64;\ntypedef unsigned long long u64;\n\n";
}

std::string CudaDialect::kernel_head(const clike::Variant& variant) const {
    const std::uint32_t threads = variant.local[0] * variant.local[1] * variant.local[2];
    return cat("extern \"C\" __global__ void __launch_bounds__(", threads, ") ");
}

}  // namespace volley::codegen::cuda
