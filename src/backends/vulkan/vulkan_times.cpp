// Timestamp queries, and their translation to the host's clock.
#include "backends/vulkan/vulkan_times.hpp"

#include <algorithm>

namespace volley::backends::vulkan {
namespace {

VkQueryPool make_timestamps(LogicalDevice& device, std::uint32_t count) {
    auto info = structure<VkQueryPoolCreateInfo>(VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO);
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = count;
    VkQueryPool pool = VK_NULL_HANDLE;
    device.check(device.vk.vkCreateQueryPool(device.handle(), &info, nullptr, &pool), "vkCreateQueryPool");
    return pool;
}

/// Converts the device's ticks to nanoseconds.
std::int64_t to_nanoseconds(const PhysicalDevice& physical, std::uint64_t ticks) {
    if (physical.timestamp_bits < 64) ticks &= (std::uint64_t{1} << physical.timestamp_bits) - 1;
    if (physical.timestamp_period == 1.0f) return static_cast<std::int64_t>(ticks);
    return static_cast<std::int64_t>(static_cast<long double>(ticks) * physical.timestamp_period);
}

/// Returns the current time of the device's clock.
std::int64_t ask_clock(LogicalDevice& device) {
    auto info = structure<VkCalibratedTimestampInfoEXT>(VK_STRUCTURE_TYPE_CALIBRATED_TIMESTAMP_INFO_EXT);
    info.timeDomain = VK_TIME_DOMAIN_DEVICE_EXT;
    std::uint64_t ticks = 0;
    std::uint64_t deviation = 0;
    device.check(device.vk.vkGetCalibratedTimestampsEXT(device.handle(), 1, &info, &ticks, &deviation),
                 "vkGetCalibratedTimestampsEXT");
    return to_nanoseconds(device.physical(), ticks);
}

/// Samples the device's clock with a timestamp on the queue.
struct ClockSample {
    ClockSample(LogicalDevice& owner, SharedQueue& on, CommandPool& from)
        : device(owner), queue(on), commands(from) {
        const auto info = structure<VkFenceCreateInfo>(VK_STRUCTURE_TYPE_FENCE_CREATE_INFO);
        device.check(device.vk.vkCreateFence(device.handle(), &info, nullptr, &fence), "vkCreateFence");
        try {
            pool = make_timestamps(device, 1);
        } catch (...) {
            device.vk.vkDestroyFence(device.handle(), fence, nullptr);
            throw;
        }
    }
    ~ClockSample() {
        device.vk.vkDestroyFence(device.handle(), fence, nullptr);
        device.vk.vkDestroyQueryPool(device.handle(), pool, nullptr);
    }
    ClockSample(const ClockSample&) = delete;
    ClockSample& operator=(const ClockSample&) = delete;

    [[nodiscard]] std::int64_t take() {
        VulkanCommand& command = commands.begin(false);
        try {
            device.vk.vkCmdResetQueryPool(command.buffer, pool, 0, 1);
            device.vk.vkCmdWriteTimestamp(command.buffer, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 0);
            commands.end(command);
            auto info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
            info.commandBufferCount = 1;
            info.pCommandBuffers = &command.buffer;
            VkResult result = VK_SUCCESS;
            {
                const std::scoped_lock lock(queue.mutex);
                result = device.vk.vkQueueSubmit(queue.handle, 1, &info, fence);
            }
            device.check(result, "vkQueueSubmit");
            device.check(device.vk.vkWaitForFences(device.handle(), 1, &fence, VK_TRUE, ~std::uint64_t{0}),
                         "vkWaitForFences");
        } catch (...) {
            commands.abandon(command);
            throw;
        }
        commands.abandon(command);
        device.check(device.vk.vkResetFences(device.handle(), 1, &fence), "vkResetFences");
        std::uint64_t ticks = 0;
        device.check(
            device.vk.vkGetQueryPoolResults(device.handle(), pool, 0, 1, sizeof ticks, &ticks, sizeof ticks,
                                            VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
            "vkGetQueryPoolResults");
        return to_nanoseconds(device.physical(), ticks);
    }

    LogicalDevice& device;
    SharedQueue& queue;
    CommandPool& commands;
    VkFence fence = VK_NULL_HANDLE;
    VkQueryPool pool = VK_NULL_HANDLE;
};

}  // namespace

TimedCommands::TimedCommands(std::shared_ptr<LogicalDevice> device, std::uint32_t most)
    : device_(std::move(device)), most_(most), made_(backends::steady_now()) {
    timed_.reserve(most_);
    if (device_->physical().timestamp_bits != 0) pool_ = make_timestamps(*device_, 2 * most_);
}

TimedCommands::~TimedCommands() {
    if (pool_ != VK_NULL_HANDLE) device_->vk.vkDestroyQueryPool(device_->handle(), pool_, nullptr);
}

void TimedCommands::stamp(VkCommandBuffer buffer, std::uint32_t query, VkPipelineStageFlagBits stage) {
    if (pool_ != VK_NULL_HANDLE) device_->vk.vkCmdWriteTimestamp(buffer, stage, pool_, query);
}

void TimedCommands::begin(VkCommandBuffer buffer, backends::TimesTag tag, TimedPlace place) {
    if (timed_.empty() && pool_ != VK_NULL_HANDLE)
        device_->vk.vkCmdResetQueryPool(buffer, pool_, 0, 2 * most_);
    // After a barrier, the command begins when all earlier work has completed. Otherwise the timestamp must
    // not wait for that, which would hide that commands overlap.
    stamp(buffer, static_cast<std::uint32_t>(2 * timed_.size()),
          place == TimedPlace::Ordered ? VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT
                                       : VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT);
    timed_.push_back({std::move(tag), place == TimedPlace::Overlapping});
}

void TimedCommands::end(VkCommandBuffer buffer) {
    stamp(buffer, static_cast<std::uint32_t>(2 * timed_.size() - 1), VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT);
}

void TimedCommands::report(backends::TimeOrder& order) const noexcept {
    if (pool_ == VK_NULL_HANDLE) {
        const std::int64_t now = backends::steady_now();
        for (const Timed& timed : timed_) order.report(timed.tag, made_, now, timed.overlaps);
        return;
    }
    const backends::DeviceClock& clock = device_->clock;
    for (std::uint32_t i = 0; i < timed_.size(); ++i) {
        std::uint64_t ticks[2] = {};
        // The results are available because the commands have completed. Do not wait: that would block all
        // epilogues.
        const VkResult result =
            device_->vk.vkGetQueryPoolResults(device_->handle(), pool_, 2 * i, 2, sizeof ticks, &ticks[0],
                                              sizeof ticks[0], VK_QUERY_RESULT_64_BIT);
        if (result != VK_SUCCESS) return;  // the device is lost
        const auto to_host = [&](std::uint64_t tick) {
            // A command cannot begin before its submission, even if the translated clock is behind.
            return std::max(clock.to_host(to_nanoseconds(device_->physical(), tick)), made_);
        };
        order.report(timed_[i].tag, to_host(ticks[0]), to_host(ticks[1]), timed_[i].overlaps);
    }
}

void calibrate_clock(LogicalDevice& device, SharedQueue& queue, CommandPool& commands, bool idle) {
    backends::DeviceClock& clock = device.clock;
    if (device.physical().timestamp_bits == 0 || !clock.is_due()) return;
    if (device.physical().calibrated) {
        clock.calibrate([&] { return ask_clock(device); });
        return;
    }
    // A timestamp on the queue waits for earlier work, so a busy queue is calibrated only once.
    if (!idle && clock.is_calibrated()) return;
    ClockSample sample(device, queue, commands);
    clock.calibrate([&] { return sample.take(); });
}

}  // namespace volley::backends::vulkan
