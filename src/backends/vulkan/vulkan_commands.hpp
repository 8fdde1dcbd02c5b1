// Command buffers of one queue, used again when the device is done with them.
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

/// What follows in submission order starts when all before is done, and sees what it wrote.
void order_device(LogicalDevice& device, VkCommandBuffer buffer);
/// The host will see what was written before, once a point behind it has passed. The last of a command
/// buffer.
void order_host(LogicalDevice& device, VkCommandBuffer buffer);

struct Command {
    VkCommandBuffer buffer = VK_NULL_HANDLE;
    bool recording = false;  // between begin and end
    bool ordered = false;    // begins with a barrier
    backends::Point point = 0;
    std::unique_ptr<VulkanMemory> staging;  // freed when the point has passed, as
    std::unique_ptr<BoundSet> set;          //   this is
    std::shared_ptr<TimedCommands> times;   // of most commands nobody's
    Command* next = nullptr;
};

class CommandPool {
public:
    explicit CommandPool(std::shared_ptr<LogicalDevice> device);
    /// The device must be done with all of them.
    ~CommandPool();
    CommandPool(const CommandPool&) = delete;
    CommandPool& operator=(const CommandPool&) = delete;

    /// An open command buffer; `ordered`: behind all earlier commands of the VkQueue.
    [[nodiscard]] Command& begin(bool ordered);
    /// Ends it; the host sees what it wrote once its point has passed.
    void end(Command& command);
    /// It was submitted, or will be; points only grow.
    void keep(Command& command, backends::Point point) noexcept;
    /// It will not be submitted.
    void abandon(Command& command) noexcept;
    /// Those up to that point may be used again.
    void pass(backends::Point reached) noexcept;
    [[nodiscard]] bool has_free() const noexcept { return free_ != nullptr; }
    [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }

private:
    std::shared_ptr<LogicalDevice> device_;
    VkCommandPool pool_ = VK_NULL_HANDLE;
    std::deque<Command> all_;  // stable addresses
    Command* free_ = nullptr;
    Command* first_ = nullptr;  // in flight, in the order of their points
    Command* last_ = nullptr;
    std::size_t in_flight_ = 0;
};

}  // namespace volley::backends::vulkan
