// Memory that others made: the caller's host memory (VK_EXT_external_memory_host), and VkBuffers of the same
// VkDevice. Neither counts against the device's budget.
#pragma once

#include "backends/vulkan/vulkan_memory.hpp"

#include <volley/native.hpp>

#include <memory>
#include <span>

namespace volley::backends::vulkan {

/// Throws DeviceError (Unsupported) where the device cannot, ArgumentError for what is not aligned to
/// PhysicalDevice::import_alignment.
[[nodiscard]] std::unique_ptr<VulkanMemory> import_host(const std::shared_ptr<LogicalDevice>& device,
                                                        std::span<std::byte> bytes);

/// Throws DeviceError (Unsupported) for another driver's object, ArgumentError for a range that the buffer
/// does not have. That it is one of this VkDevice nobody can ask.
[[nodiscard]] std::unique_ptr<VulkanMemory> import_native(std::shared_ptr<LogicalDevice> device,
                                                          const NativeBuffer& buffer);

}  // namespace volley::backends::vulkan
