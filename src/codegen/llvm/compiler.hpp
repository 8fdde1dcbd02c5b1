// Compiles a kernel's IR to native vector code with LLVM's JIT. libLLVM is opened at the first compile (about
// 15 ms), a small kernel takes 2 to 6 ms. Thread-safe: several threads may compile at once.
#pragma once

#include "codegen/llvm/kernel_abi.hpp"

#include <memory>
#include <string>

namespace volley::codegen::llvm {

/// What code is made for. Width is the number of lanes, 1 to 64, a power of two; it is the subgroup size.
struct Target {
    std::string cpu;       // LLVM's name of the processor
    std::string features;  // LLVM's feature string
    unsigned width = 1;
    friend bool operator==(const Target&, const Target&) = default;
};

/// The host's processor with its natural width for 32-bit lanes (SSE2 and NEON 4, AVX2 8, AVX-512 16), or the
/// width that is asked for. Needs no LLVM.
[[nodiscard]] Target host_target(unsigned forced_width = 0);

/// Whether the host multiplies and adds in one instruction; else a fma is a call.
[[nodiscard]] bool host_has_fma();

/// Whether workgroups are invisible to the kernel (no local ids, group ids, shared memory, barriers, subgroup
/// operations), so that one compiled variant serves every local size.
[[nodiscard]] bool is_flat(const ir::Function& fn);

/// How a kernel is specialised. Flat kernels ignore `local`.
struct Variant {
    ir::Dim3 local = {1, 1, 1};
    bool full = false;  // the caller promises: flat: global_size[0] is a multiple of the width;
                        // grouped: every workgroup is whole. Such code needs no masks for the grid's edge.
    bool streaming = false;  // store past the caches into buffers that are only written
                             // (passes::buffer_uses); the caller promises that these start at multiples of 64
                             // bytes. Pays for buffers larger than the last cache.
    bool huge = false;  // some dimension of the grid may have huge_extent invocations or more
    friend bool operator==(const Variant&, const Variant&) = default;
};
/// From this many invocations in a dimension on, a grid needs the variant `huge`. Below it ids are positive
/// as i32 too, those beyond the edge in a partial workgroup included: signed index arithmetic is understood.
inline constexpr std::uint32_t huge_extent = 0x7fff0000;

/// Machine code of one variant; frees it when destroyed (no call may be running).
class CompiledKernel {
public:
    virtual ~CompiledKernel() = default;
    [[nodiscard]] KernelFn entry() const noexcept { return entry_; }
    [[nodiscard]] std::size_t shared_bytes() const noexcept { return shared_bytes_; }
    [[nodiscard]] std::size_t spill_bytes() const noexcept { return spill_bytes_; }

protected:
    KernelFn entry_ = nullptr;
    std::size_t shared_bytes_ = 0;
    std::size_t spill_bytes_ = 0;
};

/// `fn` is verified and optimised (passes/pipeline.hpp). Throws CompileError (no LLVM found, LLVM refused the
/// code) naming the kernel.
[[nodiscard]] std::unique_ptr<CompiledKernel> compile(const ir::Function& fn, const Variant& variant,
                                                      const Target& target);

/// The assembly text of what compile() makes, for VOLLEY_DUMP=asm and tests of the generated code.
[[nodiscard]] std::string assembly(const ir::Function& fn, const Variant& variant, const Target& target);
/// The LLVM IR text, for VOLLEY_DUMP=llvm.
[[nodiscard]] std::string llvm_ir(const ir::Function& fn, const Variant& variant, const Target& target);

}  // namespace volley::codegen::llvm
