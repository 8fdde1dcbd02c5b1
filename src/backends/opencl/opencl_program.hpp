// A kernel on an OpenCL device: its optimised IR, and the source and built program of each variant (local
// size, whole grid or not) launched so far. Alternatively, foreign OpenCL C source.
#pragma once

#include "backends/api/program.hpp"
#include "backends/opencl/opencl_builder.hpp"
#include "backends/opencl/opencl_kernel.hpp"
#include "codegen/opencl/compiler.hpp"
#include "core/last_hit_cache.hpp"

#include <array>
#include <memory>

namespace volley::backends::opencl {

/// Returns the variant that a launch uses.
[[nodiscard]] codegen::opencl::Variant variant_of(const backends::Launch& launch) noexcept;

/// A variant that is ready to launch.
struct KernelVariant {
    codegen::opencl::Variant variant;
    codegen::opencl::Source source;
    cl_program program = nullptr;
    bool raw = false;               // buffers are pointers to their first element
    std::uint64_t print_bytes = 0;  // bytes that one invocation needs if it prints each line once
    /// One per queue of the device, accessed only by that queue: setting arguments of a cl_kernel is not
    /// thread-safe.
    mutable std::array<std::unique_ptr<KernelObject>, max_queues> objects;
};

class OpenClProgram final : public backends::Program {
public:
    /// Generates one source immediately to detect missing device features. Throws DeviceError (Unsupported).
    OpenClProgram(ir::Function function, std::shared_ptr<const ProgramBuilder> builder,
                  std::shared_ptr<LogicalDevice> device, codegen::opencl::Target target, ir::Dim3 local);
    /// Builds `signature.foreign`, which is OpenCL C source. Throws CompileError if it does not compile or
    /// does not match the parameters.
    OpenClProgram(ir::Function signature, std::shared_ptr<const ProgramBuilder> builder,
                  std::shared_ptr<LogicalDevice> device);
    ~OpenClProgram() override;

    [[nodiscard]] std::string code(ir::Dim3 local) const override;

    /// Returns a variant. The first request builds it (some milliseconds); later ones cost a load and a
    /// compare. It lives as long as the program. Throws CompileError, DeviceError, LaunchError (too much
    /// shared memory).
    [[nodiscard]] const KernelVariant& kernel(const codegen::opencl::Variant& requested) const;
    /// Returns the kernel object of a queue, created on first use.
    [[nodiscard]] KernelObject& object(const KernelVariant& kernel, unsigned slot) const;

private:
    [[nodiscard]] codegen::opencl::Source write_source(const codegen::opencl::Variant& variant) const;
    void build(KernelVariant& kernel) const;
    void dump(const KernelVariant& kernel) const;

    std::shared_ptr<LogicalDevice> device_;
    std::shared_ptr<const ProgramBuilder> builder_;
    codegen::opencl::Target target_;
    ir::Dim3 declared_ = {0, 0, 0};         // the local size that a foreign source declares
    std::unique_ptr<KernelVariant> given_;  // the source is foreign

    mutable LastHitCache<codegen::opencl::Variant, std::unique_ptr<KernelVariant>> kernels_;
    mutable std::unique_ptr<KernelVariant> first_;  // generated, not yet built
};

}  // namespace volley::backends::opencl
