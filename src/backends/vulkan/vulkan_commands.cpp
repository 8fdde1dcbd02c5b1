// Records barriers, and keeps lists of free and in-flight command buffers.
#include "backends/vulkan/vulkan_commands.hpp"

#include <utility>

namespace volley::backends::vulkan {
namespace {

constexpr VkPipelineStageFlags device_stages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;

void order(LogicalDevice& device, VkCommandBuffer buffer, VkPipelineStageFlags after,
           VkAccessFlags accesses) {
    auto barrier = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = accesses;
    device.vk.vkCmdPipelineBarrier(buffer, device_stages, after, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace

void order_device(LogicalDevice& device, VkCommandBuffer buffer) {
    order(device, buffer, device_stages,
          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_READ_BIT |
              VK_ACCESS_TRANSFER_WRITE_BIT);
}

void order_host(LogicalDevice& device, VkCommandBuffer buffer) {
    // Drivers that run on the host do not need this barrier, but would wait for it.
    if (device.physical().info.software) return;
    order(device, buffer, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT);
}

CommandPool::CommandPool(std::shared_ptr<LogicalDevice> device) : device_(std::move(device)) {
    auto info = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    info.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT | VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
    info.queueFamilyIndex = device_->physical().queue_family;
    device_->check(device_->vk.vkCreateCommandPool(device_->handle(), &info, nullptr, &pool_),
                   "vkCreateCommandPool");
}

CommandPool::~CommandPool() { device_->vk.vkDestroyCommandPool(device_->handle(), pool_, nullptr); }

VulkanCommand& CommandPool::begin(bool ordered) {
    if (free_ == nullptr) {
        all_.emplace_back();
        auto info = structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
        info.commandPool = pool_;
        info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
        info.commandBufferCount = 1;
        const VkResult result =
            device_->vk.vkAllocateCommandBuffers(device_->handle(), &info, &all_.back().buffer);
        if (result < 0) {
            all_.pop_back();
            device_->check(result, "vkAllocateCommandBuffers");
        }
        free_ = &all_.back();
    }
    auto begin = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    device_->check(device_->vk.vkBeginCommandBuffer(free_->buffer, &begin), "vkBeginCommandBuffer");
    free_->recording = true;
    free_->ordered = ordered;
    if (ordered) order_device(*device_, free_->buffer);
    return *std::exchange(free_, free_->next);
}

void CommandPool::end(VulkanCommand& command) {
    order_host(*device_, command.buffer);
    command.recording = false;  // even if the call fails
    device_->check(device_->vk.vkEndCommandBuffer(command.buffer), "vkEndCommandBuffer");
}

void CommandPool::keep(VulkanCommand& command, backends::Point point) noexcept {
    command.point = point;
    command.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &command;
    last_ = &command;
    ++in_flight_;
}

void CommandPool::abandon(VulkanCommand& command) noexcept {
    // A command buffer in the recording state must be reset before it is reused.
    if (std::exchange(command.recording, false)) device_->vk.vkResetCommandBuffer(command.buffer, 0);
    command.staging.reset();
    command.set.reset();
    command.times.reset();
    command.next = std::exchange(free_, &command);
}

void CommandPool::pass(backends::Point reached) noexcept {
    while (first_ != nullptr && first_->point <= reached) {
        VulkanCommand& done = *std::exchange(first_, first_->next);
        --in_flight_;
        abandon(done);
    }
}

}  // namespace volley::backends::vulkan
