// Vulkan's declarations as this backend sees them, through volk: nothing is linked, functions of instances
// are volk's global pointers, those of devices are in each device's own table (vulkan_logical.hpp).
#pragma once

#include <volk.h>

#include <cstdint>
#include <string_view>

namespace volley::backends::vulkan {

/// "VK_ERROR_DEVICE_LOST" and kin.
[[nodiscard]] std::string_view result_text(VkResult result) noexcept;

/// A structure of the API that says what it is; all else is zero.
template <class T>
[[nodiscard]] constexpr T structure(VkStructureType type) noexcept {
    T value{};
    value.sType = type;
    return value;
}

// Handles that are pointers on some platforms and integers on others, as integers.
template <class Handle>
[[nodiscard]] std::uint64_t native_handle(Handle handle) noexcept {
    return (std::uint64_t)handle;  // NOLINT(google-readability-casting): no named cast does both
}
template <class Handle>
[[nodiscard]] Handle from_native(std::uint64_t handle) noexcept {
    return (Handle)handle;  // NOLINT(google-readability-casting,performance-no-int-to-ptr)
}

}  // namespace volley::backends::vulkan
