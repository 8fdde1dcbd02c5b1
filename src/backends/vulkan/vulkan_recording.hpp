// Command buffers of a batch: recorded once and submitted many times.
//
// Not thread-safe: the queue's lock guards it.
#pragma once

#include "backends/api/timeline.hpp"
#include "backends/vulkan/vulkan_memory.hpp"

#include <memory>

namespace volley::backends::vulkan {

/// The VkCommandPool of one batch.
class RecordingPool {
public:
    explicit RecordingPool(std::shared_ptr<LogicalDevice> device);
    ~RecordingPool();
    RecordingPool(const RecordingPool&) = delete;
    RecordingPool& operator=(const RecordingPool&) = delete;

    [[nodiscard]] LogicalDevice& device() const noexcept { return *device_; }
    [[nodiscard]] const std::shared_ptr<LogicalDevice>& shared_device() const noexcept { return device_; }
    [[nodiscard]] VkCommandPool handle() const noexcept { return handle_; }

private:
    std::shared_ptr<LogicalDevice> device_;
    VkCommandPool handle_ = VK_NULL_HANDLE;
};

/// A command buffer with its argument memory.
class BatchRecording {
public:
    /// Begins a command buffer. `memory` may be null.
    BatchRecording(RecordingPool& pool, std::unique_ptr<VulkanMemory> memory,
                   VkCommandBufferUsageFlags usage);
    ~BatchRecording();
    BatchRecording(const BatchRecording&) = delete;
    BatchRecording& operator=(const BatchRecording&) = delete;
    /// Ends the command buffer.
    void end();

    [[nodiscard]] VkCommandBuffer buffer() const noexcept { return buffer_; }
    [[nodiscard]] const VulkanMemory* memory() const noexcept { return memory_.get(); }

    backends::Point point = 0;  // of the last submission
    bool taken = false;         // for the next submission

private:
    RecordingPool& pool_;
    VkCommandBuffer buffer_ = VK_NULL_HANDLE;
    std::unique_ptr<VulkanMemory> memory_;
};

}  // namespace volley::backends::vulkan
