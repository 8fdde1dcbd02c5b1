// What the queue's transfers share: of bytes (vulkan_transfer.cpp) and of rows (vulkan_rect.cpp).
#pragma once

#include "backends/vulkan/vulkan_memory.hpp"

#include <cstdint>

namespace volley::backends::vulkan {

constexpr std::uint64_t small_bytes = 256 * 1024;  // that the calling thread moves itself

[[nodiscard]] inline VulkanMemory& of(backends::Memory& memory) { return static_cast<VulkanMemory&>(memory); }
[[nodiscard]] inline const VulkanMemory& of(const backends::Memory& memory) {
    return static_cast<const VulkanMemory&>(memory);
}

}  // namespace volley::backends::vulkan
