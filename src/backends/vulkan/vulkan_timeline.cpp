// Polls the semaphore and waits for it.
#include "backends/vulkan/vulkan_timeline.hpp"

#include <algorithm>
#include <cstdint>

namespace volley::backends::vulkan {

VulkanTimeline::VulkanTimeline(std::shared_ptr<LogicalDevice> device, backends::ReportPool& reports)
    : DeviceTimeline(reports, device->physical().info.software), device_(std::move(device)) {
    auto type = structure<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto info = structure<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    info.pNext = &type;
    device_->check(device_->vk.vkCreateSemaphore(device_->handle(), &info, nullptr, &semaphore_),
                   "vkCreateSemaphore");
}

VulkanTimeline::~VulkanTimeline() { device_->vk.vkDestroySemaphore(device_->handle(), semaphore_, nullptr); }

Point VulkanTimeline::ask() const noexcept {
    std::uint64_t value = 0;
    const VkResult result = device_->vk.vkGetSemaphoreCounterValue(device_->handle(), semaphore_, &value);
    if (result == VK_ERROR_DEVICE_LOST) device_->mark_lost();
    if (result != VK_SUCCESS || value <= reached()) return 0;
    // Reading the counter does not synchronise, waiting does: it orders all later submissions, to any queue,
    // after the work up to this point and makes its writes visible to them. No wait on the device is needed.
    return wait_on_device(value, 0) ? value : 0;
}

bool VulkanTimeline::wait_on_device(Point point, std::uint64_t nanoseconds) const noexcept {
    auto info = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &semaphore_;
    info.pValues = &point;
    const VkResult result = device_->vk.vkWaitSemaphores(device_->handle(), &info, nanoseconds);
    if (result == VK_ERROR_DEVICE_LOST) device_->mark_lost();
    return result == VK_SUCCESS;
}

void VulkanTimeline::sleep_on_device(Point point, Clock::time_point deadline) {
    const auto time = std::max<std::int64_t>((deadline - Clock::now()).count(), 0);
    if (wait_on_device(point, static_cast<std::uint64_t>(time))) reach(point);
}

}  // namespace volley::backends::vulkan
