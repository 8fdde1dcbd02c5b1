// Vulkan declarations, through volk. Nothing is linked: instance functions are volk's global pointers, device
// functions are in a table per device (vulkan_logical.hpp).
#pragma once

#include <volk.h>

#include <cstdint>
#include <string_view>

namespace volley::backends::vulkan {

/// Returns the name of a result, such as "VK_ERROR_DEVICE_LOST".
[[nodiscard]] std::string_view result_text(VkResult result) noexcept;

/// Returns an API structure with its sType set and all other fields zero.
template <class T>
[[nodiscard]] constexpr T structure(VkStructureType type) noexcept {
    T value{};
    value.sType = type;
    return value;
}

// Convert handles, which are pointers on some platforms and integers on others, to integers and back.
template <class Handle>
[[nodiscard]] std::uint64_t native_handle(Handle handle) noexcept {
    return (std::uint64_t)handle;  // NOLINT(google-readability-casting): no named cast handles both
}
template <class Handle>
[[nodiscard]] Handle from_native(std::uint64_t handle) noexcept {
    return (Handle)handle;  // NOLINT(google-readability-casting,performance-no-int-to-ptr)
}

}  // namespace volley::backends::vulkan
