// A kernel on the CPU: its optimised IR, and the machine code of each variant (local size, whole grid or not)
// that launches have requested so far.
#pragma once

#include "backends/api/program.hpp"
#include "backends/common/kernel_cost.hpp"
#include "codegen/llvm/compiler.hpp"
#include "core/last_hit_cache.hpp"

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace volley::backends::cpu {

class CpuProgram final : public backends::Program {
public:
    CpuProgram(ir::Function function, codegen::llvm::Target target);

    [[nodiscard]] std::string code(ir::Dim3 local) const override;

    /// Returns the machine code of a variant, which lives as long as the program. The first request compiles
    /// it (milliseconds); repeated requests cost a load and a compare. Throws CompileError.
    [[nodiscard]] const codegen::llvm::CompiledKernel& variant(const codegen::llvm::Variant& requested) const;

    [[nodiscard]] bool flat() const noexcept { return flat_; }
    [[nodiscard]] bool prints() const noexcept { return !formats_.empty(); }
    [[nodiscard]] unsigned width() const noexcept { return target_.width; }
    [[nodiscard]] const codegen::llvm::ArgLayout& args() const noexcept { return args_; }
    /// By parameter: whether it is a buffer that the kernel writes and never reads.
    [[nodiscard]] const std::vector<bool>& written_only() const noexcept { return written_only_; }
    /// Returns whether any buffer is only written.
    [[nodiscard]] bool streams() const noexcept { return streams_; }
    /// Returns the nanoseconds of one invocation, which decide whether a launch is worth other threads. An
    /// estimate from the operations; if that is not certain, recent measurements.
    [[nodiscard]] double cost() const noexcept {
        const double measured = measured_.load(std::memory_order_relaxed);
        return measured > 0 ? measured : estimate_.ns;
    }
    [[nodiscard]] bool wants_measuring() const noexcept { return !estimate_.certain; }
    /// Adds a measurement to the moving average behind cost().
    void measured(double ns_per_invocation) const noexcept;

    /// Returns the operand types of the print with that format; empty if there is none.
    [[nodiscard]] std::span<const DType> print_types(std::uint32_t format) const;

private:
    struct Format {
        std::uint32_t string = 0;
        std::vector<DType> types;
    };
    void find_prints();
    void dump(const codegen::llvm::Variant& variant) const;

    codegen::llvm::Target target_;
    codegen::llvm::ArgLayout args_;
    std::vector<bool> written_only_;
    bool streams_ = false;
    bool flat_ = false;
    CostEstimate estimate_;
    mutable std::atomic<double> measured_{0};
    std::vector<Format> formats_;

    mutable LastHitCache<codegen::llvm::Variant, std::unique_ptr<codegen::llvm::CompiledKernel>> variants_;
};

}  // namespace volley::backends::cpu
