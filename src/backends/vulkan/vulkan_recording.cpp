// Allocation, begin and end of the command buffers.
#include "backends/vulkan/vulkan_recording.hpp"

#include "backends/vulkan/vulkan_commands.hpp"

#include <utility>

namespace volley::backends::vulkan {

RecordingPool::RecordingPool(std::shared_ptr<LogicalDevice> device) : device_(std::move(device)) {
    auto info = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    info.queueFamilyIndex = device_->physical().queue_family;
    device_->check(device_->vk.vkCreateCommandPool(device_->handle(), &info, nullptr, &handle_),
                   "vkCreateCommandPool");
}

RecordingPool::~RecordingPool() { device_->vk.vkDestroyCommandPool(device_->handle(), handle_, nullptr); }

BatchRecording::BatchRecording(RecordingPool& pool, std::unique_ptr<VulkanMemory> memory,
                               VkCommandBufferUsageFlags usage)
    : pool_(pool), memory_(std::move(memory)) {
    LogicalDevice& device = pool.device();
    auto info = structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool.handle();
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    device.check(device.vk.vkAllocateCommandBuffers(device.handle(), &info, &buffer_),
                 "vkAllocateCommandBuffers");
    auto begin = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = usage;
    const VkResult result = device.vk.vkBeginCommandBuffer(buffer_, &begin);
    if (result < 0) {
        device.vk.vkFreeCommandBuffers(device.handle(), pool.handle(), 1, &buffer_);
        device.check(result, "vkBeginCommandBuffer");
    }
}

BatchRecording::~BatchRecording() {
    pool_.device().vk.vkFreeCommandBuffers(pool_.device().handle(), pool_.handle(), 1, &buffer_);
}

void BatchRecording::end() {
    order_host(pool_.device(), buffer_);
    pool_.device().check(pool_.device().vk.vkEndCommandBuffer(buffer_), "vkEndCommandBuffer");
}

}  // namespace volley::backends::vulkan
