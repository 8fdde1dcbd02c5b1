// Names of OpenCL C.
#include "codegen/opencl/opencl_dialect.hpp"

#include "core/text.hpp"

namespace volley::codegen::opencl {

using clike::Space;
using ir::Op;

OpenClDialect::OpenClDialect(const Target& target)
    : target_(target), name_(cat("OpenCL C ", target.version / 100, '.', target.version / 10 % 10)) {}

std::string_view OpenClDialect::type(ScalarType s) const {
    switch (s) {
        case ScalarType::Bool: return "bool";
        case ScalarType::I8: return "char";
        case ScalarType::U8: return "uchar";
        case ScalarType::I16: return "short";
        case ScalarType::U16:
        case ScalarType::F16: return "ushort";
        case ScalarType::I32: return "int";
        case ScalarType::U32: return "uint";
        case ScalarType::I64: return "long";
        case ScalarType::U64: return "ulong";
        case ScalarType::F32: return "float";
        case ScalarType::F64: break;
    }
    return "double";
}

std::string_view OpenClDialect::infinity(ScalarType s) const {
    return s == ScalarType::F64 ? "(double)INFINITY" : "INFINITY";
}

std::string OpenClDialect::reinterpret(ScalarType to, ScalarType, std::string_view x) const {
    return cat("as_", type(to), '(', x, ')');
}

std::string_view OpenClDialect::function(Op op, ScalarType s) const {
    const bool loose = s == ScalarType::F32 && !target_.exact_division;
    switch (op) {
        case Op::Div: return loose ? "exact" : "";
        case Op::Sqrt: return loose ? "exact" : "sqrt";
        case Op::Fma: return "fma";
        case Op::Abs: return "fabs";
        case Op::Floor: return "floor";
        case Op::Ceil: return "ceil";
        case Op::Trunc: return "trunc";
        case Op::Round: return "round";
        case Op::RoundEven: return "rint";
        default: return {};
    }
}

std::string_view OpenClDialect::popcount(bool) const { return "popcount"; }
std::string_view OpenClDialect::clz(bool) const { return "clz"; }

std::string_view OpenClDialect::half_to_float() const {
    return target_.f16 ? "return (float)as_half(x);" : std::string_view();
}

std::string_view OpenClDialect::float_to_half() const {
    return target_.f16 ? "return as_ushort(convert_half_rte(x));" : std::string_view();
}

std::string_view OpenClDialect::space(Space s) const {
    switch (s) {
        case Space::Global: return "__global ";
        case Space::Shared: return "__local ";
        default: return {};
    }
}

std::string_view OpenClDialect::barrier() const {
    return "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
}

std::string_view OpenClDialect::subgroup_barrier() const {
    return "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
}

std::string OpenClDialect::fence(ir::FenceScope scope) const {
    switch (scope) {
        case ir::FenceScope::Buffer: return "mem_fence(CLK_GLOBAL_MEM_FENCE);";
        case ir::FenceScope::Shared: return "mem_fence(CLK_LOCAL_MEM_FENCE);";
        default: return "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
    }
}

std::string OpenClDialect::atomic(Op op, ScalarType s, std::string_view pointer, std::string_view operand,
                                  std::string_view desired) const {
    const auto name = [&]() -> std::string_view {
        switch (op) {
            case Op::AtomicAdd: return "add";
            case Op::AtomicSub: return "sub";
            case Op::AtomicMin: return "min";
            case Op::AtomicMax: return "max";
            case Op::AtomicAnd: return "and";
            case Op::AtomicOr: return "or";
            case Op::AtomicXor: return "xor";
            case Op::AtomicExchange: return "xchg";
            default: return "cmpxchg";
        }
    };
    return cat(size_of(s) == 8 ? "atom_" : "atomic_", name(), '(', pointer, ", ", operand,
               desired.empty() ? "" : ", ", desired, ')');
}

bool OpenClDialect::has_float_atomic(Op, ScalarType) const { return false; }

std::string OpenClDialect::global_id(unsigned d, std::uint32_t) const {
    return cat("(uint)get_global_id(", d, ')');
}
std::string OpenClDialect::local_id(unsigned d) const { return cat("(uint)get_local_id(", d, ')'); }
std::string OpenClDialect::group_id(unsigned d) const { return cat("(uint)get_group_id(", d, ')'); }

// Float min and max must ignore NaN, which the built-in functions leave undefined. NaN operands are replaced
// by the identity; the result is NaN if there are no other operands.
std::string OpenClDialect::fold_body(const ir::Fold& fold, ScalarType s, std::string_view identity,
                                     const Combine&) const {
    constexpr std::string_view kinds[] = {"reduce", "scan_inclusive", "scan_exclusive"};
    const std::string_view kind = kinds[static_cast<unsigned>(fold.scan)];
    const auto call = [&](std::string_view op, std::string_view x) {
        return cat("sub_group_non_uniform_", kind, '_', op, '(', x, ')');
    };
    const std::string_view op = ir::mnemonic(fold.combine);
    if (!is_float(s) || (fold.combine != Op::Min && fold.combine != Op::Max))
        return cat("return ", call(op, "x"), ';');
    const std::string found =
        cat("const ", type(s), " found = ", call(op, cat("x == x ? x : ", identity)), ";\n");
    if (fold.scan == ir::Scan::Exclusive) return cat(found, "return found;");
    return cat(found, "const uint numbers = ", call("or", "x == x ? 1u : 0u"), ";\n",
               "return numbers != 0u ? found : ",
               s == ScalarType::F64 ? "as_double(0x7ff8000000000000UL)" : "as_float(0x7fc00000u)", ';');
}

std::string OpenClDialect::shuffle(ScalarType, std::string_view x, std::string_view lane) const {
    return cat("sub_group_shuffle(", x, ", ", lane, ')');
}

std::string OpenClDialect::ballot_body(unsigned word) const {
    return cat("return sub_group_ballot(vote).s", word, ';');
}

std::string_view OpenClDialect::elect() const {
    return "sub_group_ballot_find_lsb(sub_group_ballot(1)) == get_sub_group_local_id()";
}

std::string OpenClDialect::prelude() const {
    std::string text;
    const auto enable = [&](std::string_view extension) {
        text += cat("#pragma OPENCL EXTENSION ", extension, " : enable\n");
    };
    // A feature that is core in the version in use may not be an extension there.
    if (target_.f16) enable("cl_khr_fp16");
    if (target_.f64) text += "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n#endif\n";
    if (target_.i64_atomics) {
        enable("cl_khr_int64_base_atomics");
        enable("cl_khr_int64_extended_atomics");
    }
    text += "#pragma OPENCL FP_CONTRACT OFF\n\n";
    return text;
}

std::string OpenClDialect::kernel_head(const clike::Variant& variant) const {
    const ir::Dim3& local = variant.local;
    return cat("__kernel __attribute__((reqd_work_group_size(", local[0], ", ", local[1], ", ", local[2],
               ")))\nvoid ");
}

}  // namespace volley::codegen::opencl
