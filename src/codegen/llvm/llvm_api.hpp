// LLVM's C API as a table of functions, loaded from libLLVM on first use. Volley does not link LLVM: programs
// start without it, and its symbols cannot clash with other copies of LLVM in the process.
#pragma once

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

namespace volley::codegen::llvm {

// clang-format off
#define VOLLEY_LLVM_FUNCTIONS(X)                                                                             \
    /* context, module, types */                                                                             \
    X(ContextCreate) X(ContextDispose) X(ModuleCreateWithNameInContext) X(DisposeModule)                     \
    X(SetTarget) X(SetModuleDataLayout) X(PrintModuleToString) X(DisposeMessage) X(VerifyModule)             \
    X(IntTypeInContext) X(Int1TypeInContext) X(Int8TypeInContext) X(Int16TypeInContext)                      \
    X(Int32TypeInContext) X(Int64TypeInContext) X(HalfTypeInContext) X(FloatTypeInContext)                   \
    X(DoubleTypeInContext) X(VoidTypeInContext) X(PointerTypeInContext) X(VectorType) X(FunctionType)        \
    X(StructTypeInContext) X(TypeOf) X(GetTypeKind) X(GetElementType) X(GetVectorSize)         \
    X(GetIntTypeWidth) X(GlobalGetValueType)                                                                 \
    /* constants */                                                                                          \
    X(ConstInt) X(ConstReal) X(ConstNull) X(ConstAllOnes) X(ConstVector) X(GetUndef) X(GetPoison)            \
    X(ConstBitCast) X(IsConstant)                                                                            \
    /* functions, attributes, blocks */                                                                      \
    X(AddFunction) X(GetNamedFunction) X(GetParam) X(SetLinkage) X(CreateStringAttribute)                    \
    X(CreateEnumAttribute) X(GetEnumAttributeKindForName) X(AddAttributeAtIndex)                             \
    X(AppendBasicBlockInContext) X(CreateBuilderInContext) X(DisposeBuilder) X(PositionBuilderAtEnd)         \
    X(PositionBuilderBefore) X(GetInsertBlock) X(GetFirstInstruction) X(GetNextInstruction)                  \
    X(GetBasicBlockTerminator) X(IsALoadInst)                                                                \
    X(LookupIntrinsicID) X(GetIntrinsicDeclaration) X(IntrinsicGetType)                                      \
    /* instructions */                                                                                       \
    X(BuildRet) X(BuildRetVoid) X(BuildBr) X(BuildCondBr) X(BuildUnreachable) X(BuildPhi) X(AddIncoming)     \
    X(BuildAdd) X(BuildSub) X(BuildMul) X(BuildUDiv) X(BuildSDiv) X(BuildURem) X(BuildSRem)                  \
    X(BuildFAdd) X(BuildFSub) X(BuildFMul) X(BuildFDiv) X(BuildFRem) X(BuildFNeg) X(BuildNeg) X(BuildNot)    \
    X(BuildAnd) X(BuildOr) X(BuildXor) X(BuildShl) X(BuildLShr) X(BuildAShr)                                 \
    X(BuildICmp) X(BuildFCmp) X(BuildSelect) X(BuildFreeze)                                                  \
    X(BuildZExt) X(BuildSExt) X(BuildTrunc) X(BuildFPExt) X(BuildFPTrunc) X(BuildSIToFP) X(BuildUIToFP)      \
    X(BuildFPToSI) X(BuildFPToUI) X(BuildBitCast) X(BuildPtrToInt) X(BuildIntToPtr)                          \
    X(BuildAlloca) X(BuildArrayAlloca) X(BuildLoad2) X(BuildStore) X(BuildGEP2) X(SetAlignment)              \
    X(BuildExtractElement) X(BuildInsertElement) X(BuildShuffleVector) X(BuildCall2)                         \
    X(BuildAtomicRMW) X(BuildAtomicCmpXchg) X(BuildExtractValue) X(BuildFence)                               \
    X(SetMetadata) X(GetMDKindIDInContext) X(MDNodeInContext2) X(MetadataAsValue) X(ValueAsMetadata)                            \
    /* targets */                                                                                            \
    X(GetDefaultTargetTriple) X(GetTargetFromTriple) X(CreateTargetMachine) X(DisposeTargetMachine)          \
    X(GetHostCPUName) X(GetHostCPUFeatures) X(CreateTargetDataLayout) X(DisposeTargetData)                   \
    X(TargetMachineEmitToMemoryBuffer) X(DisposeMemoryBuffer) X(GetBufferStart) X(GetBufferSize)             \
    /* passes */                                                                                             \
    X(CreatePassBuilderOptions) X(DisposePassBuilderOptions) X(RunPasses)                                    \
    /* errors, JIT */                                                                                        \
    X(GetErrorMessage) X(DisposeErrorMessage) X(ConsumeError)                                                \
    X(OrcCreateLLJIT) X(OrcDisposeLLJIT) X(OrcLLJITGetMainJITDylib) X(OrcLLJITAddObjectFileWithRT)           \
    X(OrcLLJITLookup) X(OrcLLJITGetExecutionSession) X(OrcLLJITMangleAndIntern)                              \
    X(OrcExecutionSessionCreateBareJITDylib) X(OrcExecutionSessionCreateJITDylib)                            \
    X(OrcJITDylibCreateResourceTracker) X(OrcResourceTrackerRemove) X(OrcReleaseResourceTracker)             \
    X(OrcExecutionSessionGetSymbolStringPool) X(OrcSymbolStringPoolClearDeadEntries)                         \
    X(OrcAbsoluteSymbols) X(OrcJITDylibDefine)
// clang-format on

struct LlvmApi {
    unsigned major = 0;  // the version of the opened library, 15 to 20
#define VOLLEY_LLVM_MEMBER(name) decltype(&::LLVM##name) name = nullptr;
    VOLLEY_LLVM_FUNCTIONS(VOLLEY_LLVM_MEMBER)
#undef VOLLEY_LLVM_MEMBER
    // Initialisers of the host's target; the header's inline helper would require linking.
    void (*initialize_target_info)() = nullptr;
    void (*initialize_target)() = nullptr;
    void (*initialize_target_mc)() = nullptr;
    void (*initialize_asm_printer)() = nullptr;
};

/// Opens libLLVM at the first call (about 15 ms). Throws CompileError, saying what to install, if it is not
/// found; later calls try again. Thread-safe.
[[nodiscard]] const LlvmApi& llvm_api();

}  // namespace volley::codegen::llvm
