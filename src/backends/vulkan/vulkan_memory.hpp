// Device memory. A heap allocates large blocks from the driver, each one VkBuffer with a device address, and
// divides them into ranges. Requests larger than half a block get a separate allocation.
//
// A device has two heaps: one for buffers, and a host heap for staging, arguments and reports. If device
// memory can be mapped (integrated GPUs, resizable BAR, software), the host writes to it directly.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/common/memory_budget.hpp"
#include "backends/common/tlsf.hpp"
#include "backends/vulkan/vulkan_logical.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace volley::backends::vulkan {

/// Describes a buffer for kernels and transfers.
[[nodiscard]] VkBufferCreateInfo buffer_info(std::uint64_t bytes) noexcept;
/// Returns the device address of the buffer's first byte.
[[nodiscard]] std::uint64_t address_of(LogicalDevice& device, VkBuffer buffer) noexcept;

enum class HeapUse : std::uint8_t { Device, Host };

struct HeapOptions {
    std::uint64_t limit = 0;     // maximum of allocated bytes; 0: no limit
    bool limit_by_user = false;  // otherwise it is the machine's
    std::uint64_t block_bytes = std::uint64_t{64} << 20;
    bool map = true;  // false: treat device memory as inaccessible to the host
};

class Heap {
public:
    /// Selects the memory type; allocates nothing yet.
    Heap(std::shared_ptr<LogicalDevice> device, HeapUse use, const HeapOptions& options);
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    /// A VkBuffer and its memory.
    struct Block {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
        std::uint64_t address = 0;
        std::byte* mapped = nullptr;
        std::optional<backends::Tlsf> parts;  // empty: the block is a single allocation
    };
    struct Suballocation {
        Block* block = nullptr;
        std::uint64_t offset = 0;
        backends::Tlsf::Handle handle = 0;
    };
    /// Throws MemoryError with the sizes and the device.
    [[nodiscard]] Suballocation take(std::uint64_t bytes);
    void give_back(const Suballocation& range, std::uint64_t bytes) noexcept;

    [[nodiscard]] LogicalDevice& device() const noexcept { return *device_; }
    [[nodiscard]] bool mapped() const noexcept { return mapped_; }
    /// Returns whether the host reads it as fast as ordinary host memory.
    [[nodiscard]] bool cached() const noexcept { return cached_; }
    [[nodiscard]] std::uint64_t live() const noexcept { return budget_.live(); }
    /// Returns the bytes allocated from the driver; for tests.
    [[nodiscard]] std::uint64_t held() const;

private:
    void pick_type(HeapUse use, const HeapOptions& options);
    [[nodiscard]] VkResult make_block(std::uint64_t bytes, bool dedicated, Block& to);
    void destroy(Block& block) noexcept;
    void drop_empty_blocks() noexcept;

    std::shared_ptr<LogicalDevice> device_;
    std::uint32_t type_ = 0;
    bool mapped_ = false;
    bool cached_ = false;
    std::uint64_t block_bytes_;
    std::uint64_t max_bytes_ = 0;  // of one allocation
    backends::MemoryBudget budget_;

    mutable std::mutex mutex_;
    std::list<Block> blocks_;  // stable addresses
    std::uint64_t held_ = 0;
};

/// The location of memory in a VkBuffer.
struct BufferPlace {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::uint64_t offset = 0;     // of the first byte in the buffer
    std::uint64_t address = 0;    // of the first byte on the device
    std::byte* mapped = nullptr;  // the host address for writing, or null
    bool cached = false;          // the host also reads it as fast as ordinary host memory
};

class VulkanMemory final : public backends::Memory {
public:
    VulkanMemory(std::shared_ptr<Heap> heap, std::uint64_t bytes);
    /// Allocates page-aligned host memory from a mapped heap.
    [[nodiscard]] static std::unique_ptr<VulkanMemory> in_pages(std::shared_ptr<Heap> heap,
                                                                std::uint64_t bytes);
    /// Wraps imported memory (vulkan_import.hpp) and keeps `owner` alive.
    VulkanMemory(std::shared_ptr<const void> owner, const BufferPlace& place, std::uint64_t bytes);
    ~VulkanMemory() override;

    [[nodiscard]] VkBuffer buffer() const noexcept { return place_.buffer; }
    /// Returns the offset of the first byte in its VkBuffer.
    [[nodiscard]] std::uint64_t offset() const noexcept { return place_.offset; }
    [[nodiscard]] std::uint64_t address() const noexcept { return place_.address; }
    /// Returns the host address for writing, even if reading is slow (host() is then null), or nullptr.
    [[nodiscard]] std::byte* mapped() const noexcept { return place_.mapped; }
    [[nodiscard]] NativeBuffer native() const override;

private:
    VulkanMemory(std::shared_ptr<Heap> heap, std::uint64_t bytes, std::uint64_t taken);

    std::shared_ptr<Heap> heap_;  // null for imported memory
    std::uint64_t taken_ = 0;     // bytes taken from the heap
    Heap::Suballocation range_;
    std::shared_ptr<const void> owner_;
    BufferPlace place_;
};

}  // namespace volley::backends::vulkan
