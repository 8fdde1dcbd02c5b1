// Creates and destroys a VkDevice, and maps error codes to exceptions.
#include "backends/vulkan/vulkan_logical.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <volley/log.hpp>

namespace volley::backends::vulkan {

LogicalDevice::LogicalDevice(std::shared_ptr<Instance> instance, const PhysicalDevice& physical)
    : instance_(std::move(instance)), physical_(physical) {
    const std::vector<float> priorities(physical_.queue_count, 1.0f);
    auto queues = structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queues.queueFamilyIndex = physical_.queue_family;
    queues.queueCount = physical_.queue_count;
    queues.pQueuePriorities = priorities.data();
    auto info = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = physical_.features.chain();
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    info.enabledExtensionCount = static_cast<std::uint32_t>(physical_.extensions.size());
    info.ppEnabledExtensionNames = physical_.extensions.data();
    check(vkCreateDevice(physical_.handle, &info, nullptr, &handle_), "vkCreateDevice");
    volkLoadDeviceTable(&vk, handle_);

    VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, physical_.target.push_bytes};
    auto layout = structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    const VkResult made = vk.vkCreatePipelineLayout(handle_, &layout, nullptr, &layout_);
    if (made < 0) {
        vk.vkDestroyDevice(handle_, nullptr);
        check(made, "vkCreatePipelineLayout");
    }
    for (std::uint32_t i = 0; i < physical_.queue_count; ++i) {
        queues_.push_back(std::make_unique<SharedQueue>());
        vk.vkGetDeviceQueue(handle_, physical_.queue_family, i, &queues_.back()->handle);
    }
}

LogicalDevice::~LogicalDevice() {
    // The submitters have waited for all work, unless the device was lost.
    if (lost()) vk.vkDeviceWaitIdle(handle_);
    vk.vkDestroyPipelineLayout(handle_, layout_, nullptr);
    vk.vkDestroyDevice(handle_, nullptr);
}

SharedQueue& LogicalDevice::next_queue() noexcept {
    return *queues_[next_queue_.fetch_add(1, std::memory_order_relaxed) % queues_.size()];
}

void LogicalDevice::fail_lost() const {
    fail(ErrorCode::DeviceLost, "the driver reported the device as lost", name(),
         "create a new context, and check the system log for the reason; other devices are unaffected");
}

void LogicalDevice::fail_call(VkResult result, std::string_view call) {
    if (result == VK_ERROR_DEVICE_LOST) {
        if (!lost()) log_message(LogLevel::Error, cat(name(), " was lost during ", call));
        mark_lost();
        fail_lost();
    }
    const std::string what = cat(call, " failed with ", result_text(result));
    if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
        fail(ErrorCode::OutOfMemory, what, name(), "free buffers, or wait for pending work");
    fail(ErrorCode::Unsupported, what, name(), "update the driver, or use another device");
}

}  // namespace volley::backends::vulkan
