// The process's only VkInstance, created when devices are first listed and destroyed with its last user. It
// holds the devices of all drivers.
#pragma once

#include "backends/vulkan/vulkan_physical.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace volley::backends::vulkan {

class Instance {
public:
    /// Returns the process's instance, or nullptr if there is no loader or no driver; the reason is logged
    /// once.
    [[nodiscard]] static std::shared_ptr<Instance> open();
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    [[nodiscard]] VkInstance handle() const noexcept { return handle_; }
    /// Returns the usable devices, in the loader's order.
    [[nodiscard]] const std::vector<PhysicalDevice>& devices() const noexcept { return devices_; }

private:
    Instance() = default;
    [[nodiscard]] bool create();
    void find_devices();

    VkInstance handle_ = VK_NULL_HANDLE;
    VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
    std::uint32_t version_ = 0;
    std::vector<PhysicalDevice> devices_;
};

/// Return the validation layer's messages so far, if VOLLEY_VALIDATE=1 enables it; for tests. Each message is
/// also logged as an error.
[[nodiscard]] std::uint64_t validation_message_count() noexcept;
[[nodiscard]] std::string last_validation_message();
/// Returns whether the layer is installed and enabled.
[[nodiscard]] bool validation_is_on() noexcept;

}  // namespace volley::backends::vulkan
