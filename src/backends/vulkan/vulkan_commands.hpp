// The command buffers of one queue, reused after they complete.
//
// Not thread-safe: the queue's lock guards it.
#pragma once

#include "backends/api/timeline.hpp"
#include "backends/vulkan/vulkan_bindings.hpp"
#include "backends/vulkan/vulkan_memory.hpp"

#include <deque>
#include <memory>

namespace volley::backends::vulkan {

class TimedCommands;

/// Records a barrier: later commands in submission order start after all earlier ones complete, and see their
/// writes.
void order_device(LogicalDevice& device, VkCommandBuffer buffer);
/// Makes earlier writes visible to the host once a later point has passed. Call it last in a command buffer.
void order_host(LogicalDevice& device, VkCommandBuffer buffer);

struct VulkanCommand {
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    bool recording = false;  // between begin and end
    bool ordered = false;    // starts with a barrier
    backends::Point point = 0;
    std::shared_ptr<VulkanMemory> staging;  // both freed when the point has passed
    std::unique_ptr<BoundSet> set;
    std::shared_ptr<TimedCommands> times;  // null unless times are requested
    VulkanCommand* next = nullptr;
};

class CommandPool {
public:
    explicit CommandPool(std::shared_ptr<LogicalDevice> device);
    /// The device must have completed all of them.
    ~CommandPool();
    CommandPool(const CommandPool&) = delete;
    CommandPool& operator=(const CommandPool&) = delete;

    /// Starts recording a command buffer; `ordered` places it after all earlier commands of the VkQueue.
    [[nodiscard]] VulkanCommand& begin(bool ordered);
    /// Ends recording; the host sees its writes once its point has passed.
    void end(VulkanCommand& command);
    /// Keeps a command buffer that was or will be submitted; points only grow.
    void keep(VulkanCommand& command, backends::Point point) noexcept;
    /// Recycles a command buffer that will not be submitted.
    void abandon(VulkanCommand& command) noexcept;
    /// Recycles the command buffers up to that point.
    void pass(backends::Point reached) noexcept;
    [[nodiscard]] bool has_free() const noexcept { return free_ != nullptr; }
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

private:
    std::shared_ptr<LogicalDevice> device_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::deque<VulkanCommand> all_;  // stable addresses
    VulkanCommand* free_ = nullptr;
    VulkanCommand* first_ = nullptr;  // in flight, in the order of their points
    VulkanCommand* last_ = nullptr;
    std::size_t in_flight_ = 0;
};

}  // namespace volley::backends::vulkan
