// Imported memory: host memory (VK_EXT_external_memory_host) and VkBuffers of the same VkDevice. Neither
// counts against the device's budget.
#pragma once

#include "backends/vulkan/vulkan_memory.hpp"

#include <volley/native.hpp>

#include <memory>
#include <span>

namespace volley::backends::vulkan {

/// Throws DeviceError (Unsupported) if the device does not support it, ArgumentError for memory that is not
/// aligned to PhysicalDevice::import_alignment.
[[nodiscard]] std::unique_ptr<VulkanMemory> import_host(const std::shared_ptr<LogicalDevice>& device,
                                                        std::span<std::byte> bytes);

/// Throws DeviceError (Unsupported) for another driver's object, ArgumentError for a range outside the
/// buffer. Whether it belongs to this VkDevice cannot be checked.
[[nodiscard]] std::unique_ptr<VulkanMemory> import_native(std::shared_ptr<LogicalDevice> device,
                                                          const NativeBuffer& buffer);

}  // namespace volley::backends::vulkan
