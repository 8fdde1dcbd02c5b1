// A cl_kernel and the arguments that it has: setting one that is already there costs a compare.
//
// Not thread-safe, as cl_kernels are not: each queue has its own.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/opencl/opencl_memory.hpp"
#include "codegen/opencl/compiler.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace volley::backends::opencl {

class KernelObject {
public:
    KernelObject(std::shared_ptr<LogicalDevice> device, cl_program program, const std::string& entry,
                 std::span<const codegen::opencl::Parameter> parameters);
    ~KernelObject();
    KernelObject(const KernelObject&) = delete;
    KernelObject& operator=(const KernelObject&) = delete;

    [[nodiscard]] cl_kernel handle() const noexcept { return handle_; }
    /// Sets what differs from the launch before, but for values that are null: no allocation. `raw` kernels
    /// take buffers as pointers to their first element. Throws LaunchError (InvalidView) where the device
    /// cannot point there.
    void set(const backends::Launch& launch, const OpenClMemory* reports, bool raw);
    /// One value, by its place among the kernel's arguments.
    void set_value(std::uint32_t number, const void* value);

private:
    struct Slot {
        std::uint32_t offset = 0;  // in known_
        std::uint32_t size = 0;
        bool set = false;
    };
    /// Whether the argument differs from what is known; then it is known, and not yet set.
    [[nodiscard]] bool changes(std::uint32_t number, const void* key);
    void set_bytes(std::uint32_t number, std::size_t size, const void* value);
    void set_pointer(std::uint32_t number, const backends::Launch& launch, std::uint32_t parameter);

    std::shared_ptr<LogicalDevice> device_;
    std::span<const codegen::opencl::Parameter> parameters_;
    cl_kernel handle_ = nullptr;
    std::vector<Slot> slots_;
    std::vector<std::byte> known_;  // the arguments as they were last set; of memory its identity
};

}  // namespace volley::backends::opencl
