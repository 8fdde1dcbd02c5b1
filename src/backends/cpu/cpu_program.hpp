// A kernel on the CPU: its optimised IR, and the machine code of each variant (local size, whole grid or not)
// that a launch has asked for so far.
#pragma once

#include "backends/api/program.hpp"
#include "codegen/llvm/compiler.hpp"
#include "core/last_hit_cache.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <vector>

namespace volley::backends::cpu {

/// Nanoseconds of one invocation, from the operations of the body. Not certain when some loop's length is
/// known only at run time; such loops count as long.
struct CostEstimate {
    double ns = 0;
    bool certain = true;
};
[[nodiscard]] CostEstimate estimate_cost(const ir::Function& fn, unsigned width);

class CpuProgram final : public backends::Program {
public:
    CpuProgram(ir::Function function, codegen::llvm::Target target);

    [[nodiscard]] std::string code(ir::Dim3 local) const override;

    /// The machine code for a variant; compiled at the first request (milliseconds), later a load and a
    /// compare. It lives as long as the program. Throws CompileError.
    [[nodiscard]] const codegen::llvm::CompiledKernel& variant(const codegen::llvm::Variant& wanted) const;

    [[nodiscard]] bool flat() const noexcept { return flat_; }
    [[nodiscard]] bool prints() const noexcept { return !formats_.empty(); }
    [[nodiscard]] unsigned width() const noexcept { return target_.width; }
    [[nodiscard]] const codegen::llvm::ArgLayout& args() const noexcept { return args_; }
    /// By parameter: a buffer that the kernel stores to and never reads.
    [[nodiscard]] const std::vector<bool>& written_only() const noexcept { return written_only_; }
    /// Whether there is such a buffer.
    [[nodiscard]] bool streams() const noexcept { return streams_; }
    /// What one invocation takes, in nanoseconds: decides which launches are worth other threads. A guess
    /// from the operations; where the length of a loop is not known, what was measured lately.
    [[nodiscard]] double cost() const noexcept {
        const double measured = measured_.load(std::memory_order_relaxed);
        return measured > 0 ? measured : estimate_.ns;
    }
    [[nodiscard]] bool wants_measuring() const noexcept { return !estimate_.certain; }
    void measured(double ns_per_invocation) const noexcept;

    /// The operand types of the print with that format; empty where there is none.
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

/// Receives what a piece of a launch prints. Machine code cannot be unwound, so exceptions wait here for its
/// end.
class PrintJob {
public:
    explicit PrintJob(const CpuProgram& program) noexcept : program_(program) {}
    static void print(void* job, std::uint32_t format, const void* values) noexcept;
    void rethrow() const {
        if (error_) std::rethrow_exception(error_);
    }

private:
    const CpuProgram& program_;
    std::exception_ptr error_;
};

}  // namespace volley::backends::cpu
