// The driver's objects of a device and its memory, for programs that use the driver's API together with
// Volley. No driver header is needed: handles are pointers, or integers for Vulkan's non-dispatchable
// handles.
#pragma once

#include <cstdint>
#include <variant>

namespace volley {

/// A part of a VkBuffer. The buffer has the usage flags STORAGE_BUFFER, TRANSFER_SRC, TRANSFER_DST and
/// SHADER_DEVICE_ADDRESS, and its memory was allocated with VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT.
struct VulkanBuffer {
    std::uint64_t buffer = 0;  ///< VkBuffer
    std::uint64_t memory = 0;  ///< VkDeviceMemory that the buffer is bound to; may be 0 for an import
    std::uint64_t offset = 0;  ///< of the first byte, a multiple of 16
    std::uint64_t bytes = 0;
};

/// A part of a cl_mem.
struct OpenClBuffer {
    void* buffer = nullptr;    ///< cl_mem
    std::uint64_t offset = 0;  ///< of the first byte; for an import, a multiple of the type's alignment
    std::uint64_t bytes = 0;
};

/// The driver's object that holds a replica; monostate on backends without a driver (the CPU).
using NativeBuffer = std::variant<std::monostate, VulkanBuffer, OpenClBuffer>;

/// The Vulkan objects of a device.
struct VulkanDeviceHandles {
    void* instance = nullptr;         ///< VkInstance
    void* physical_device = nullptr;  ///< VkPhysicalDevice
    void* device = nullptr;           ///< VkDevice
    std::uint32_t queue_family = 0;   ///< the family of all queues that Volley uses
};

/// The OpenCL objects of a device.
struct OpenClDeviceHandles {
    void* platform = nullptr;  ///< cl_platform_id
    void* device = nullptr;    ///< cl_device_id
    void* context = nullptr;   ///< cl_context
};

/// The driver's objects of a device; monostate on backends without a driver (the CPU).
using NativeDevice = std::variant<std::monostate, VulkanDeviceHandles, OpenClDeviceHandles>;

}  // namespace volley
