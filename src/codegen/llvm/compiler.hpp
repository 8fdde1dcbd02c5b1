// Compiles a kernel's IR to native vector code with LLVM's JIT. The first compilation opens libLLVM (about 15
// ms); a small kernel takes 2 to 6 ms. Thread-safe: several threads may compile concurrently.
#pragma once

#include "codegen/llvm/kernel_abi.hpp"

#include <memory>
#include <string>

namespace volley::codegen::llvm {

/// The processor to compile for. `width` is the number of lanes and the subgroup size: a power of two, 1 to
/// 64.
struct Target {
    std::string cpu;       // LLVM's name for the processor
    std::string features;  // LLVM's feature string
    unsigned width = 1;
    friend bool operator==(const Target&, const Target&) = default;
};

/// Returns the host's processor with its natural width for 32-bit lanes (SSE2 and NEON 4, AVX2 8, AVX-512
/// 16), or with `forced_width`. Does not need LLVM.
[[nodiscard]] Target host_target(unsigned forced_width = 0);

/// Returns the target of a level of x86-64 ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4") with its natural
/// width, or with `forced_width`. Throws ArgumentError if the host's processor does not have the level.
[[nodiscard]] Target level_target(const std::string& level, unsigned forced_width = 0);

/// Returns true if the target has FMA instructions; otherwise an fma is a function call.
[[nodiscard]] bool has_fma(const Target& target);

/// Returns the major version of the opened LLVM, 15 to 20. Throws CompileError if there is none.
[[nodiscard]] unsigned llvm_version();

/// Returns true if the kernel does not observe workgroups (no local ids, group ids, shared memory, barriers
/// or subgroup operations), so one compiled variant serves every local size.
[[nodiscard]] bool is_flat(const ir::Function& fn);

/// Specialisation of a kernel. Flat kernels ignore `local`.
struct Variant {
    ir::Dim3 local = {1, 1, 1};
    /// The caller guarantees that global_size[0] is a multiple of the width (flat kernels) or that every
    /// workgroup is full (grouped kernels), so the code needs no masks for the grid's edge.
    bool full = false;
    /// Use streaming stores, which bypass the caches, for buffers that are only written
    /// (passes::BufferUses::written_only). The caller guarantees that these start at multiples of 64 bytes.
    /// Worthwhile for buffers larger than the last-level cache.
    bool streaming = false;
    /// Some dimension of the grid may have huge_extent invocations or more, or some buffer more than
    /// most_elements.
    bool huge = false;
    friend bool operator==(const Variant&, const Variant&) = default;
};
/// Grids with at least this many invocations in a dimension need the variant `huge`. Below it, ids are
/// positive as i32 too, even those past the edge in a partial workgroup, so signed index arithmetic can be
/// analysed.
inline constexpr std::uint32_t huge_extent = 0x40000000;
/// Indices in buffers of at most so many elements are positive as i32 too, so that sums can be divided into
/// parts.
inline constexpr std::uint64_t most_elements = 0x80000000;

/// Machine code of one variant. The destructor frees the code; no call may be running.
class CompiledKernel {
public:
    virtual ~CompiledKernel() = default;
    [[nodiscard]] KernelFn entry() const noexcept { return entry_; }
    [[nodiscard]] std::size_t shared_bytes() const noexcept { return shared_bytes_; }
    [[nodiscard]] std::size_t spill_bytes() const noexcept { return spill_bytes_; }
    /// Returns the memory that the code occupies, with what the JIT stores about it.
    [[nodiscard]] std::size_t code_bytes() const noexcept { return code_bytes_; }

protected:
    KernelFn entry_ = nullptr;
    std::size_t shared_bytes_ = 0;
    std::size_t spill_bytes_ = 0;
    std::size_t code_bytes_ = 0;
};

/// Requires a verified and optimised `fn` (passes/pipeline.hpp). Throws CompileError, naming the kernel, if
/// LLVM is not found or rejects the code.
[[nodiscard]] std::unique_ptr<CompiledKernel> compile(const ir::Function& fn, const Variant& variant,
                                                      const Target& target);

/// Returns the assembly of the code that compile() generates, for VOLLEY_DUMP=asm and tests.
[[nodiscard]] std::string assembly(const ir::Function& fn, const Variant& variant, const Target& target);
/// Returns the LLVM IR, for VOLLEY_DUMP=llvm.
[[nodiscard]] std::string llvm_ir(const ir::Function& fn, const Variant& variant, const Target& target);

}  // namespace volley::codegen::llvm
