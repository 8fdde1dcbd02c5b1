// The process's one VkInstance: made when devices are first listed, gone with the last that uses it. Several
// drivers' devices live in it side by side.
#pragma once

#include "backends/vulkan/vulkan_physical.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace volley::backends::vulkan {

class Instance {
public:
    /// The process's instance; nullptr where there is no loader or no driver, which the log says once.
    [[nodiscard]] static std::shared_ptr<Instance> open();
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    [[nodiscard]] VkInstance handle() const noexcept { return handle_; }
    /// The devices that can serve, in the loader's order.
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

/// What the validation layer has complained about so far, where VOLLEY_VALIDATE=1 asks for it: for tests.
/// Each message is also an error in the log.
[[nodiscard]] std::uint64_t validation_message_count() noexcept;
[[nodiscard]] std::string last_validation_message();
/// Whether the layer is there and watches.
[[nodiscard]] bool validation_is_on() noexcept;

}  // namespace volley::backends::vulkan
