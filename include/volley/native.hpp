// The driver's own objects behind a device and its memory, for programs that use its API beside Volley. No
// driver's header is needed here: handles are pointers, or integers where Vulkan has no pointers for them.
#pragma once

#include <cstdint>
#include <variant>

namespace volley {

/// A part of a VkBuffer. The buffer has the usages STORAGE_BUFFER, TRANSFER_SRC, TRANSFER_DST and
/// SHADER_DEVICE_ADDRESS, and its memory was allocated with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT.
struct VulkanBuffer {
    std::uint64_t buffer = 0;  ///< VkBuffer
    std::uint64_t memory = 0;  ///< VkDeviceMemory that it is bound to; may be 0 for an import
    std::uint64_t offset = 0;  ///< of the first byte in the buffer; a multiple of 16
    std::uint64_t bytes = 0;
};

/// A part of a cl_mem.
struct OpenClBuffer {
    void* buffer = nullptr;    ///< cl_mem
    std::uint64_t offset = 0;  ///< of the first byte in it; of an import, a multiple of the type's alignment
    std::uint64_t bytes = 0;
};

/// What a buffer's replica is to its driver; monostate on backends without a driver (the CPU).
using NativeBuffer = std::variant<std::monostate, VulkanBuffer, OpenClBuffer>;

struct VulkanDevice {
    void* instance = nullptr;         ///< VkInstance
    void* physical_device = nullptr;  ///< VkPhysicalDevice
    void* device = nullptr;           ///< VkDevice
    std::uint32_t queue_family = 0;   ///< of all queues that Volley uses
};

struct OpenClDevice {
    void* platform = nullptr;  ///< cl_platform_id
    void* device = nullptr;    ///< cl_device_id
    void* context = nullptr;   ///< cl_context
};

using NativeDevice = std::variant<std::monostate, VulkanDevice, OpenClDevice>;

}  // namespace volley
