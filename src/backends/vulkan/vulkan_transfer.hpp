// Casts to the device's own memory, for transfers and batches.
#pragma once

#include "backends/vulkan/vulkan_memory.hpp"

namespace volley::backends::vulkan {

[[nodiscard]] inline VulkanMemory& of(backends::Memory& memory) { return static_cast<VulkanMemory&>(memory); }
[[nodiscard]] inline const VulkanMemory& of(const backends::Memory& memory) {
    return static_cast<const VulkanMemory&>(memory);
}

}  // namespace volley::backends::vulkan
