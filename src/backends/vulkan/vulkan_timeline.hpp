// The timeline of a Vulkan queue: the device's points are the values of one timeline semaphore.
#pragma once

#include "backends/common/device_timeline.hpp"
#include "backends/vulkan/vulkan_logical.hpp"

#include <cstdint>
#include <memory>

namespace volley::backends::vulkan {

class VulkanTimeline final : public backends::DeviceTimeline {
public:
    VulkanTimeline(std::shared_ptr<LogicalDevice> device, backends::ReportPool& reports);
    ~VulkanTimeline() override;

    [[nodiscard]] VkSemaphore semaphore() const noexcept { return semaphore_; }
    [[nodiscard]] const LogicalDevice& device() const noexcept { return *device_; }
    /// The last point that the device is known to have reached; does not ask it.
    using DeviceTimeline::reached;
    [[nodiscard]] bool lost() const noexcept override { return device_->lost(); }
    void check_lost() const override { device_->check_lost(); }

private:
    [[nodiscard]] backends::Point ask() const noexcept override;
    void sleep_on_device(backends::Point point, Clock::time_point deadline) override;
    /// False when the time ran out or the device was lost.
    [[nodiscard]] bool wait_on_device(backends::Point point, std::uint64_t nanoseconds) const noexcept;

    std::shared_ptr<LogicalDevice> device_;
    VkSemaphore semaphore_ = VK_NULL_HANDLE;
};

}  // namespace volley::backends::vulkan
