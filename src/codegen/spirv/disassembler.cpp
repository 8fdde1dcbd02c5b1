// Lists a module: names for the instructions that the emitter writes, numbers for others.
#include "codegen/spirv/compiler.hpp"
#include "codegen/spirv/module_builder.hpp"
#include "core/text.hpp"

namespace volley::codegen::spirv {
namespace {

// The operands that follow the opcode.
enum class OperandShape : std::uint8_t { Statement, Result, TypedResult };

struct NamedOperation {
    std::string_view name;
    OperandShape shape = OperandShape::Statement;
};

// clang-format off
#define VOLLEY_SPIRV_STATEMENTS(X) \
    X(OpBranch) X(OpBranchConditional) X(OpCapability) X(OpControlBarrier) X(OpDecorate) \
    X(OpEntryPoint) X(OpExecutionMode) X(OpExtension) X(OpFunctionEnd) X(OpLoopMerge) \
    X(OpMemberDecorate) X(OpMemoryBarrier) X(OpMemoryModel) X(OpReturn) X(OpReturnValue) \
    X(OpSelectionMerge) X(OpStore) X(OpUnreachable)
#define VOLLEY_SPIRV_RESULTS(X) \
    X(OpExtInstImport) X(OpLabel) X(OpTypeArray) X(OpTypeBool) X(OpTypeFloat) X(OpTypeFunction) \
    X(OpTypeInt) X(OpTypePointer) X(OpTypeRuntimeArray) X(OpTypeStruct) X(OpTypeVector) \
    X(OpTypeVoid)
#define VOLLEY_SPIRV_TYPED(X) \
    X(OpAccessChain) X(OpAtomicAnd) X(OpAtomicCompareExchange) X(OpAtomicExchange) \
    X(OpAtomicFAddEXT) X(OpAtomicIAdd) X(OpAtomicISub) X(OpAtomicLoad) X(OpAtomicOr) X(OpAtomicSMax) \
    X(OpAtomicSMin) X(OpAtomicUMax) X(OpAtomicUMin) X(OpAtomicXor) X(OpBitCount) \
    X(OpBitFieldSExtract) X(OpBitReverse) X(OpBitcast) X(OpBitwiseAnd) X(OpBitwiseOr) \
    X(OpBitwiseXor) X(OpCompositeConstruct) X(OpCompositeExtract) X(OpConstant) \
    X(OpConstantComposite) X(OpConstantFalse) X(OpConstantNull) X(OpConstantTrue) X(OpConvertFToS) \
    X(OpConvertFToU) X(OpConvertSToF) X(OpConvertUToF) X(OpExtInst) X(OpFAdd) X(OpFConvert) \
    X(OpFDiv) X(OpFMul) X(OpFNegate) X(OpFOrdEqual) X(OpFOrdGreaterThan) X(OpFOrdGreaterThanEqual) \
    X(OpFOrdLessThan) X(OpFOrdLessThanEqual) X(OpFOrdNotEqual) X(OpFSub) X(OpFUnordNotEqual) \
    X(OpFunction) X(OpFunctionCall) X(OpFunctionParameter) X(OpGroupNonUniformAll) \
    X(OpGroupNonUniformAny) X(OpGroupNonUniformBallot) X(OpGroupNonUniformBitwiseAnd) \
    X(OpGroupNonUniformBitwiseOr) X(OpGroupNonUniformBitwiseXor) X(OpGroupNonUniformElect) \
    X(OpGroupNonUniformFAdd) X(OpGroupNonUniformFMax) X(OpGroupNonUniformFMin) \
    X(OpGroupNonUniformFMul) X(OpGroupNonUniformIAdd) X(OpGroupNonUniformIMul) \
    X(OpGroupNonUniformSMax) X(OpGroupNonUniformSMin) X(OpGroupNonUniformShuffle) \
    X(OpGroupNonUniformUMax) X(OpGroupNonUniformUMin) X(OpIAdd) X(OpIEqual) X(OpIMul) X(OpINotEqual) \
    X(OpISub) X(OpIsInf) X(OpIsNan) X(OpLoad) X(OpLogicalAnd) X(OpLogicalEqual) X(OpLogicalNot) \
    X(OpLogicalNotEqual) X(OpLogicalOr) X(OpNot) X(OpPhi) X(OpSConvert) X(OpSDiv) X(OpSGreaterThan) \
    X(OpSGreaterThanEqual) X(OpSLessThan) X(OpSLessThanEqual) X(OpSNegate) X(OpSRem) X(OpSelect) \
    X(OpShiftLeftLogical) X(OpShiftRightArithmetic) X(OpShiftRightLogical) X(OpUConvert) X(OpUDiv) \
    X(OpUGreaterThan) X(OpUGreaterThanEqual) X(OpULessThan) X(OpULessThanEqual) X(OpUMod) \
    X(OpUMulExtended) X(OpUndef) X(OpVariable)
// clang-format on

NamedOperation named(std::uint32_t opcode) {
    switch (static_cast<spv::Op>(opcode)) {
#define VOLLEY_SPIRV_NAME(name, shape) \
    case spv::Op::name:                \
        return {#name, OperandShape::shape};
#define VOLLEY_SPIRV_STATEMENT(name) VOLLEY_SPIRV_NAME(name, Statement)
#define VOLLEY_SPIRV_RESULT(name) VOLLEY_SPIRV_NAME(name, Result)
#define VOLLEY_SPIRV_TYPED_RESULT(name) VOLLEY_SPIRV_NAME(name, TypedResult)
        VOLLEY_SPIRV_STATEMENTS(VOLLEY_SPIRV_STATEMENT)
        VOLLEY_SPIRV_RESULTS(VOLLEY_SPIRV_RESULT)
        VOLLEY_SPIRV_TYPED(VOLLEY_SPIRV_TYPED_RESULT)
        default: return {};
    }
}

// Returns true for operands (counted after type and result) that are plain numbers; all others are ids.
bool is_literal(spv::Op op, std::size_t operand) {
    switch (op) {
        case spv::Op::OpCapability:
        case spv::Op::OpMemoryModel:
        case spv::Op::OpTypeInt:
        case spv::Op::OpTypeFloat:
        case spv::Op::OpConstant:
        case spv::Op::OpVariable: return true;
        case spv::Op::OpDecorate:
        case spv::Op::OpMemberDecorate:
        case spv::Op::OpExecutionMode:
        case spv::Op::OpCompositeExtract:
        case spv::Op::OpLoad:
        case spv::Op::OpTypeVector:
        case spv::Op::OpSelectionMerge: return operand >= 1;
        case spv::Op::OpExtInst: return operand == 1;
        case spv::Op::OpTypePointer:
        case spv::Op::OpFunction: return operand == 0;
        case spv::Op::OpStore:
        case spv::Op::OpLoopMerge: return operand >= 2;
        case spv::Op::OpGroupNonUniformIAdd:
        case spv::Op::OpGroupNonUniformFAdd:
        case spv::Op::OpGroupNonUniformIMul:
        case spv::Op::OpGroupNonUniformFMul:
        case spv::Op::OpGroupNonUniformSMin:
        case spv::Op::OpGroupNonUniformUMin:
        case spv::Op::OpGroupNonUniformFMin:
        case spv::Op::OpGroupNonUniformSMax:
        case spv::Op::OpGroupNonUniformUMax:
        case spv::Op::OpGroupNonUniformFMax:
        case spv::Op::OpGroupNonUniformBitwiseAnd:
        case spv::Op::OpGroupNonUniformBitwiseOr:
        case spv::Op::OpGroupNonUniformBitwiseXor: return operand == 1;
        default: return false;
    }
}

// Returns the string that starts at word `at`, and advances `at` past it.
std::string text_at(std::span<const std::uint32_t> words, std::size_t& at) {
    std::string text;
    for (; at < words.size(); ++at) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            const auto c = static_cast<char>(words[at] >> shift);
            if (c == '\0') {
                ++at;
                return text;
            }
            text += c;
        }
    }
    return text;
}

std::string line(std::span<const std::uint32_t> words) {
    const auto op = static_cast<spv::Op>(words[0] & 0xffff);
    const NamedOperation info = named(words[0] & 0xffff);
    const std::string name = info.name.empty() ? cat("Op", words[0] & 0xffff) : std::string(info.name);
    std::size_t at = 1;
    std::string type;
    std::string result;
    if (info.shape == OperandShape::TypedResult && words.size() >= 3) {
        type = cat(" %", words[1]);
        result = cat("%", words[2], " = ");
        at = 3;
    } else if (info.shape == OperandShape::Result && words.size() >= 2) {
        result = cat("%", words[1], " = ");
        at = 2;
    }
    std::string out(result.size() < 9 ? 9 - result.size() : 0, ' ');
    out += cat(result, name, type);
    if (op == spv::Op::OpExtension || op == spv::Op::OpExtInstImport)
        return cat(out, " \"", text_at(words, at), "\"");
    if (op == spv::Op::OpEntryPoint && words.size() > 3) {
        out += cat(" ", words[1], " %", words[2]);
        at = 3;
        out += cat(" \"", text_at(words, at), "\"");
    }
    for (std::size_t operand = 0; at < words.size(); ++at, ++operand)
        out += is_literal(op, operand) ? cat(" ", words[at]) : cat(" %", words[at]);
    return out;
}

}  // namespace

std::string disassemble(const std::vector<std::uint32_t>& words) {
    constexpr std::size_t header = 5;
    if (words.size() < header || words[0] != spv::MagicNumber) return "not a SPIR-V module\n";
    std::string text =
        cat("; SPIR-V ", words[1] >> 16 & 0xff, ".", words[1] >> 8 & 0xff, ", bound ", words[3], "\n");
    for (std::size_t at = header; at < words.size();) {
        const std::size_t count = words[at] >> 16;
        if (count == 0 || count > words.size() - at) return cat(text, "; cut off\n");
        text += line(std::span(words).subspan(at, count));
        text += '\n';
        at += count;
    }
    return text;
}

}  // namespace volley::codegen::spirv
