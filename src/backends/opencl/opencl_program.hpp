// A kernel on an OpenCL device: its optimised IR, and the source and built program of each variant (local
// size, whole grid or not) that a launch has asked for so far. Or a source that was written elsewhere.
#pragma once

#include "backends/api/program.hpp"
#include "backends/opencl/opencl_builder.hpp"
#include "backends/opencl/opencl_kernel.hpp"
#include "codegen/opencl/compiler.hpp"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace volley::backends::opencl {

/// The one that runs a launch.
[[nodiscard]] codegen::opencl::Variant variant_of(const backends::Launch& launch) noexcept;

/// A variant, ready to launch.
struct Kernel {
    codegen::opencl::Variant variant;
    codegen::opencl::Source source;
    cl_program program = nullptr;
    bool raw = false;               // buffers are pointers to their first element
    std::uint64_t print_bytes = 0;  // what one invocation prints at most, if it prints each line once
    /// One for each of the device's queues, which alone touches it: arguments of a cl_kernel are not
    /// thread-safe.
    mutable std::array<std::unique_ptr<KernelObject>, max_queues> objects;
};

class OpenClProgram final : public backends::Program {
public:
    /// Writes one source at once, so that what the device lacks is known now. Throws DeviceError
    /// (Unsupported).
    OpenClProgram(ir::Function function, std::shared_ptr<const Builder> builder,
                  std::shared_ptr<LogicalDevice> device, codegen::opencl::Target target, ir::Dim3 local);
    /// Of `signature.foreign`, OpenCL C that was written elsewhere: built now. Throws CompileError where it
    /// does not compile, or does not fit the parameters.
    OpenClProgram(ir::Function signature, std::shared_ptr<const Builder> builder,
                  std::shared_ptr<LogicalDevice> device);
    ~OpenClProgram() override;

    [[nodiscard]] std::string code(ir::Dim3 local) const override;

    /// Made at the first request (some milliseconds), later a load and a compare. Lives as long as the
    /// program. Throws CompileError, DeviceError, LaunchError (too much shared memory).
    [[nodiscard]] const Kernel& kernel(const codegen::opencl::Variant& wanted) const;
    /// The queue's object of it, made at the first request.
    [[nodiscard]] KernelObject& object(const Kernel& kernel, unsigned slot) const;

private:
    [[nodiscard]] codegen::opencl::Source write_source(const codegen::opencl::Variant& variant) const;
    void build(Kernel& kernel) const;
    void dump(const Kernel& kernel) const;

    std::shared_ptr<LogicalDevice> device_;
    std::shared_ptr<const Builder> builder_;
    codegen::opencl::Target target_;
    ir::Dim3 declared_ = {0, 0, 0};  // of a source that says its local size
    bool raw_ = false;               // the source was given

    mutable std::atomic<const Kernel*> last_{nullptr};  // the fast path; points into kernels_
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<Kernel>> kernels_;
    mutable std::unique_ptr<Kernel> first_;  // written, not built
};

}  // namespace volley::backends::opencl
