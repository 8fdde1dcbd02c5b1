// Device memory: one cl_mem per allocation. Drivers sub-allocate small ones themselves.
//
// If the device has fine-grained buffer SVM (OpenCL 2.0; typical of CPUs), buffers are in such memory and the
// host accesses them without mapping. Otherwise the host cannot access them, because using a buffer in
// kernels while it is mapped is undefined. Staging memory is pinned and stays mapped: only transfers access
// it, through its pointer.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/common/memory_budget.hpp"
#include "backends/opencl/opencl_logical.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace volley::backends::opencl {

enum class HeapUse : std::uint8_t { Device, Host };

struct HeapOptions {
    std::uint64_t limit = 0;     // maximum of allocated bytes; 0: no limit
    bool limit_by_user = false;  // otherwise it is the machine's
    bool share = true;           // false: treat device memory as inaccessible to the host
};

class Heap {
public:
    Heap(std::shared_ptr<LogicalDevice> device, HeapUse use, const HeapOptions& options);
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    struct Block {
        cl_mem buffer = nullptr;
        std::byte* host = nullptr;    // the address for the host; in pinned memory the first whole page
        std::byte* mapped = nullptr;  // the address from the driver, for unmapping
    };
    /// Throws MemoryError with the sizes and the device.
    [[nodiscard]] Block take(std::uint64_t bytes);
    void give_back(Block block, std::uint64_t bytes) noexcept;

    [[nodiscard]] const std::shared_ptr<LogicalDevice>& device() const noexcept { return device_; }
    /// Returns whether blocks are shared virtual memory.
    [[nodiscard]] bool shared() const noexcept { return shared_; }
    [[nodiscard]] HeapUse use() const noexcept { return use_; }
    [[nodiscard]] std::uint64_t live() const noexcept { return budget_.live(); }

private:
    [[nodiscard]] Block make(std::uint64_t bytes, cl_int& result);
    void destroy(Block block) noexcept;

    std::shared_ptr<LogicalDevice> device_;
    HeapUse use_;
    bool shared_ = false;
    cl_command_queue queue_ = nullptr;  // maps and unmaps; host heap only
    backends::MemoryBudget budget_;
};

/// An imported buffer.
struct ForeignBuffer {
    cl_mem buffer = nullptr;
    std::uint64_t offset = 0;   // of the first byte in it
    std::byte* host = nullptr;  // address of that byte, if host and device share the memory
};

class OpenClMemory final : public backends::Memory {
public:
    OpenClMemory(std::shared_ptr<Heap> heap, std::uint64_t bytes);
    /// Adopts one reference to the buffer. Does not count against a budget.
    OpenClMemory(std::shared_ptr<LogicalDevice> device, const ForeignBuffer& foreign, std::uint64_t bytes);
    ~OpenClMemory() override;

    [[nodiscard]] cl_mem buffer() const noexcept { return block_.buffer; }
    /// Returns the offset of the first byte in the buffer.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    /// Returns an id that is never reused, unlike handles.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// Returns whether the device accepts pointers into it.
    [[nodiscard]] bool shared() const noexcept { return heap_ != nullptr && heap_->shared(); }
    /// Returns whether the buffer stays mapped: pass only host() to the driver, never the buffer.
    [[nodiscard]] bool pinned() const noexcept { return heap_ != nullptr && heap_->use() == HeapUse::Host; }
    /// Returns the host address for writing, or nullptr; the same as host().
    [[nodiscard]] std::byte* mapped() const noexcept { return host(); }
    /// Returns a sub-buffer from that byte on, for kernels that take no offset; created once. Returns null if
    /// the offset violates the device's alignment.
    [[nodiscard]] cl_mem part(std::uint64_t offset) const;
    [[nodiscard]] NativeBuffer native() const override;

private:
    std::shared_ptr<LogicalDevice> device_;
    std::shared_ptr<Heap> heap_;  // null for imported buffers
    Heap::Block block_;
    std::uint64_t offset_ = 0;
    std::uint64_t id_;
    mutable std::mutex mutex_;
    mutable std::map<std::uint64_t, cl_mem> parts_;
};

}  // namespace volley::backends::opencl
