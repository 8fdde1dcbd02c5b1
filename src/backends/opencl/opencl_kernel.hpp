// A cl_kernel and its current arguments: setting an unchanged argument costs one comparison.
//
// Not thread-safe, like cl_kernel itself: each queue has its own.
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
    /// Sets the arguments that differ from the previous launch, and skips null values. Does not allocate.
    /// `raw` kernels take buffers as pointers to their first element. Throws LaunchError (InvalidView) if the
    /// device does not support such a pointer.
    void set(const backends::Launch& launch, const OpenClMemory* reports, bool raw);
    /// Sets one value by its position among the kernel's arguments.
    void set_value(std::uint32_t number, const void* value);

private:
    struct Slot {
        std::uint32_t offset = 0;  // in known_
        std::uint32_t size = 0;
        bool set = false;
    };
    /// Returns whether the argument differs from the stored key, and stores the new key; the caller sets it.
    [[nodiscard]] bool changes(std::uint32_t number, const void* key);
    void set_bytes(std::uint32_t number, std::size_t size, const void* value);
    void set_pointer(std::uint32_t number, const backends::Launch& launch, std::uint32_t parameter);

    std::shared_ptr<LogicalDevice> device_;
    std::span<const codegen::opencl::Parameter> parameters_;
    cl_kernel handle_ = nullptr;
    std::vector<Slot> slots_;
    std::vector<std::byte> known_;  // arguments as last set; memory by its id
};

}  // namespace volley::backends::opencl
