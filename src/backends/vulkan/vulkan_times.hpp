// When commands ran, by the device's own clock: timestamps around the commands of one command buffer. Made
// only for commands of which somebody wants to know that (backends/api/times.hpp).
#pragma once

#include "backends/api/times.hpp"
#include "backends/vulkan/vulkan_commands.hpp"
#include "backends/vulkan/vulkan_logical.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace volley::backends::vulkan {

/// Where a timed command stands among the others.
enum class TimedPlace : std::uint8_t {
    Behind,      // a barrier stands before it
    Free,        // everything before it is done, or ordered by other means
    Overlapping  // it may run beside what is before it
};

/// The queue's lock guards it until it was submitted; then the epilogue has it.
class TimedCommands {
public:
    /// For so many commands. Throws what the driver's want of memory throws.
    TimedCommands(std::shared_ptr<LogicalDevice> device, std::uint32_t most);
    ~TimedCommands();
    TimedCommands(const TimedCommands&) = delete;
    TimedCommands& operator=(const TimedCommands&) = delete;

    // What an open command buffer is given around each command; the first of all makes the timestamps ready.
    void begin(VkCommandBuffer buffer, backends::TimesTag tag, TimedPlace place);
    void end(VkCommandBuffer buffer);

    /// When the device is done with all of them.
    void tell(backends::TimeOrder& order) const noexcept;

private:
    struct Timed {
        backends::TimesTag tag;
        bool overlaps = false;
    };
    void stamp(VkCommandBuffer buffer, std::uint32_t query, VkPipelineStageFlagBits stage);

    std::shared_ptr<LogicalDevice> device_;
    VkQueryPool pool_ =
        VK_NULL_HANDLE;  // none where the device's queues have no clock: then the host's has to do
    std::uint32_t most_;
    std::vector<Timed> timed_;
    std::int64_t made_;
};

/// Finds out anew where the device's clock stands, if it is time to. Waits for the driver's queue where the
/// driver cannot be asked: if that is idle, or nothing is known yet.
void calibrate_clock(LogicalDevice& device, SharedQueue& queue, CommandPool& commands, bool idle);

}  // namespace volley::backends::vulkan
