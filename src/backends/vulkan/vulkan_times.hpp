// Times of commands by the device's clock: timestamps around the commands of a command buffer. Created only
// for commands whose times are requested (backends/api/times.hpp).
#pragma once

#include "backends/api/times.hpp"
#include "backends/vulkan/vulkan_commands.hpp"
#include "backends/vulkan/vulkan_logical.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace volley::backends::vulkan {

/// How a timed command is ordered after earlier ones.
enum class TimedPlace : std::uint8_t {
    Ordered,     // preceded by a barrier
    Free,        // earlier work has completed, or is ordered by other means
    Overlapping  // may overlap earlier commands
};

/// The queue's lock guards it until submission; then the epilogue owns it.
class TimedCommands {
public:
    /// Reserves timestamps for `most` commands. Throws if the driver is out of memory.
    TimedCommands(std::shared_ptr<LogicalDevice> device, std::uint32_t most);
    ~TimedCommands();
    TimedCommands(const TimedCommands&) = delete;
    TimedCommands& operator=(const TimedCommands&) = delete;

    // Record timestamps around each command in an open command buffer; the first begin() resets the queries.
    void begin(VkCommandBuffer buffer, backends::TimesTag tag, TimedPlace place);
    void end(VkCommandBuffer buffer);

    /// Reports the times; call when the device has completed all commands.
    void report(backends::TimeOrder& order) const noexcept;

private:
    struct Timed {
        backends::TimesTag tag;
        bool overlaps = false;
    };
    void stamp(VkCommandBuffer buffer, std::uint32_t query, VkPipelineStageFlagBits stage);

    std::shared_ptr<LogicalDevice> device_;
    VkQueryPool pool_ = VK_NULL_HANDLE;  // null if the device's queues have no clock; the host's is used then
    std::uint32_t most_;
    std::vector<Timed> timed_;
    std::int64_t made_;
};

/// Calibrates the device's clock if that is due. If the driver cannot report the time directly, waits for the
/// driver's queue, but only if that is idle or the clock was never calibrated.
void calibrate_clock(LogicalDevice& device, SharedQueue& queue, CommandPool& commands, bool idle);

}  // namespace volley::backends::vulkan
