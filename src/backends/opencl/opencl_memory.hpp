// Device memory: one cl_mem each. Drivers sub-allocate small ones themselves.
//
// Where host and device share memory in fine grain (shared virtual memory of OpenCL 2.0, as on CPUs), the
// buffer lies in such memory, and the host works in it without mapping. A plain buffer that stays mapped
// while kernels use it would be undefined, so elsewhere the host does not see it. Staging memory is pinned
// and mapped for good: only transfers touch it, by its pointer.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/common/memory_budget.hpp"
#include "backends/opencl/opencl_logical.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace volley::backends::opencl {

enum class HeapUse : std::uint8_t { Device, Host };

struct HeapOptions {
    std::uint64_t limit = 0;     // bytes that may be live at once; 0: none of ours
    bool limit_by_user = false;  //   else it is the machine's
    bool share = true;           // false: as if the host could not address device memory
};

class Heap {
public:
    Heap(std::shared_ptr<LogicalDevice> device, HeapUse use, const HeapOptions& options);
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    struct Block {
        cl_mem buffer = nullptr;
        std::byte* host = nullptr;    // where the host works; of pinned memory the first whole page
        std::byte* mapped = nullptr;  // what the driver gave, and wants back
    };
    /// Throws MemoryError naming the sizes and the device.
    [[nodiscard]] Block take(std::uint64_t bytes);
    void give_back(Block block, std::uint64_t bytes) noexcept;

    [[nodiscard]] const std::shared_ptr<LogicalDevice>& device() const noexcept { return device_; }
    /// Whether blocks are shared virtual memory.
    [[nodiscard]] bool shared() const noexcept { return shared_; }
    [[nodiscard]] HeapUse use() const noexcept { return use_; }
    [[nodiscard]] std::uint64_t live() const noexcept { return budget_.live(); }

private:
    [[nodiscard]] Block make(std::uint64_t bytes, cl_int& result);
    void destroy(Block block) noexcept;

    std::shared_ptr<LogicalDevice> device_;
    HeapUse use_;
    bool shared_ = false;
    cl_command_queue queue_ = nullptr;  // of the host's heap: maps and unmaps
    backends::MemoryBudget budget_;
};

/// A buffer that others made.
struct ForeignBuffer {
    cl_mem buffer = nullptr;
    std::uint64_t offset = 0;   // of the first byte in it
    std::byte* host = nullptr;  // that byte, where host and device share it
};

class OpenClMemory final : public backends::Memory {
public:
    OpenClMemory(std::shared_ptr<Heap> heap, std::uint64_t bytes);
    /// Takes over one reference to the buffer. Counts against no budget.
    OpenClMemory(std::shared_ptr<LogicalDevice> device, const ForeignBuffer& foreign, std::uint64_t bytes);
    ~OpenClMemory() override;

    [[nodiscard]] cl_mem buffer() const noexcept { return block_.buffer; }
    /// Of the first byte in the buffer.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    /// A number that no other memory has had: handles come again.
    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
    /// Whether the device takes pointers into it.
    [[nodiscard]] bool shared() const noexcept { return heap_ != nullptr && heap_->shared(); }
    /// Whether the buffer is mapped for good: the driver must not be given it, only host().
    [[nodiscard]] bool pinned() const noexcept { return heap_ != nullptr && heap_->use() == HeapUse::Host; }
    /// The buffer from that byte on, for kernels that take no offset; made once. Null where the device
    /// cannot, as the place is no multiple of its alignment.
    [[nodiscard]] cl_mem part(std::uint64_t offset) const;
    [[nodiscard]] NativeBuffer native() const override;

private:
    std::shared_ptr<LogicalDevice> device_;
    std::shared_ptr<Heap> heap_;  // null: others made the buffer
    Heap::Block block_;
    std::uint64_t offset_ = 0;
    std::uint64_t id_;
    mutable std::mutex mutex_;
    mutable std::map<std::uint64_t, cl_mem> parts_;
};

}  // namespace volley::backends::opencl
