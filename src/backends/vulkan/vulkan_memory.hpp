// Device memory. A heap takes large blocks from the driver, each one VkBuffer with a device address, and
// hands out parts of them; what is larger than half a block gets an allocation of its own.
//
// Two heaps serve a device: the one for buffers, and the host's, for staging, arguments and reports. Where
// the device's own memory can be mapped (integrated GPUs, resizable BAR, software) the host writes into it.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/common/tlsf.hpp"
#include "backends/vulkan/vulkan_logical.hpp"

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace volley::backends::vulkan {

/// A buffer as kernels and transfers use it.
[[nodiscard]] VkBufferCreateInfo buffer_info(std::uint64_t bytes) noexcept;
/// Its first byte on the device.
[[nodiscard]] std::uint64_t address_of(LogicalDevice& device, VkBuffer buffer) noexcept;

enum class HeapUse : std::uint8_t { Device, Host };

struct HeapOptions {
    std::uint64_t limit = 0;     // bytes that may be live at once; 0: none of ours
    bool limit_by_user = false;  //   else it is the machine's
    std::uint64_t block_bytes = std::uint64_t{64} << 20;
    bool map = true;  // false: as if the host could not address device memory
};

class Heap {
public:
    /// Picks the memory type; allocates nothing yet.
    Heap(std::shared_ptr<LogicalDevice> device, HeapUse use, const HeapOptions& options);
    ~Heap();
    Heap(const Heap&) = delete;
    Heap& operator=(const Heap&) = delete;

    /// One VkBuffer with its memory.
    struct Block {
        VkBuffer buffer = VK_NULL_HANDLE;
        VkDeviceMemory memory = VK_NULL_HANDLE;
        std::uint64_t address = 0;
        std::byte* mapped = nullptr;
        std::optional<backends::Tlsf> parts;  // empty: all of it is one allocation
    };
    struct Range {
        Block* block = nullptr;
        std::uint64_t offset = 0;
        backends::Tlsf::Handle handle = 0;
    };
    /// Throws MemoryError naming the sizes and the device.
    [[nodiscard]] Range take(std::uint64_t bytes);
    void give_back(const Range& range, std::uint64_t bytes) noexcept;

    [[nodiscard]] LogicalDevice& device() const noexcept { return *device_; }
    [[nodiscard]] bool mapped() const noexcept { return mapped_; }
    /// Whether the host reads it as fast as its own memory.
    [[nodiscard]] bool cached() const noexcept { return cached_; }
    [[nodiscard]] std::uint64_t live() const;
    /// Bytes held from the driver: for tests.
    [[nodiscard]] std::uint64_t held() const;

private:
    void pick_type(HeapUse use, const HeapOptions& options);
    [[nodiscard]] VkResult make_block(std::uint64_t bytes, bool dedicated, Block& to);
    void destroy(Block& block) noexcept;
    void drop_empty_blocks() noexcept;
    void check_budget(std::uint64_t bytes) const;
    [[noreturn]] void refuse(std::uint64_t bytes, std::string_view why, std::string_view advice) const;

    std::shared_ptr<LogicalDevice> device_;
    std::uint32_t type_ = 0;
    bool mapped_ = false;
    bool cached_ = false;
    std::uint64_t block_bytes_;
    std::uint64_t max_bytes_ = 0;  // of one allocation
    std::uint64_t limit_;
    bool limit_by_user_;

    mutable std::mutex mutex_;
    std::list<Block> blocks_;  // stable addresses
    std::uint64_t live_ = 0;
    std::uint64_t held_ = 0;
};

/// Where memory lies in a VkBuffer.
struct Place {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::uint64_t offset = 0;     // of the first byte in the buffer
    std::uint64_t address = 0;    // of the first byte on the device
    std::byte* mapped = nullptr;  // where the host may write it
    bool cached = false;          // and read it as fast as its own memory
};

class VulkanMemory final : public backends::Memory {
public:
    VulkanMemory(std::shared_ptr<Heap> heap, std::uint64_t bytes);
    /// Of a heap that is mapped: whole pages of the host's.
    [[nodiscard]] static std::unique_ptr<VulkanMemory> in_pages(std::shared_ptr<Heap> heap,
                                                                std::uint64_t bytes);
    /// Memory that was made elsewhere (vulkan_import.hpp); `owner` lives as long.
    VulkanMemory(std::shared_ptr<const void> owner, const Place& place, std::uint64_t bytes);
    ~VulkanMemory() override;

    [[nodiscard]] VkBuffer buffer() const noexcept { return place_.buffer; }
    /// Of the first byte in its VkBuffer.
    [[nodiscard]] std::uint64_t offset() const noexcept { return place_.offset; }
    [[nodiscard]] std::uint64_t address() const noexcept { return place_.address; }
    /// Where the host may write, also if reading there is slow (then host() is null); else nullptr.
    [[nodiscard]] std::byte* mapped() const noexcept { return place_.mapped; }
    [[nodiscard]] NativeBuffer native() const override;

private:
    VulkanMemory(std::shared_ptr<Heap> heap, std::uint64_t bytes, std::uint64_t taken);

    std::shared_ptr<Heap> heap_;  // null: made elsewhere
    std::uint64_t taken_ = 0;     // from the heap
    Heap::Range range_;
    std::shared_ptr<const void> owner_;
    Place place_;
};

}  // namespace volley::backends::vulkan
