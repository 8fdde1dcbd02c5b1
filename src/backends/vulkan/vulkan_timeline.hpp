// The timeline of a Vulkan queue: device points are the values of a timeline semaphore.
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
    /// Returns the last point known to be reached by the device; does not query it.
    using DeviceTimeline::reached;
    [[nodiscard]] bool lost() const noexcept override { return device_->lost(); }
    void check_lost() const override { device_->check_lost(); }

private:
    [[nodiscard]] backends::Point ask() const noexcept override;
    void sleep_on_device(backends::Point point, Clock::time_point deadline) override;
    /// Returns false on timeout or if the device is lost.
    [[nodiscard]] bool wait_on_device(backends::Point point, std::uint64_t nanoseconds) const noexcept;

    std::shared_ptr<LogicalDevice> device_;
    VkSemaphore semaphore_ = VK_NULL_HANDLE;
};

}  // namespace volley::backends::vulkan
