// One VkDevice with its table of functions and its VkQueues. Memory, programs and queues share it, so it ends
// after the last of them.
//
// Once the driver has reported the device as lost, it stays so: every later call on it throws, and everything
// that was handed to it counts as over.
#pragma once

#include "backends/common/device_clock.hpp"
#include "backends/vulkan/vulkan_instance.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace volley::backends::vulkan {

/// A queue of the driver's. Several of ours may share one, so whoever submits holds the mutex.
struct SharedQueue {
    VkQueue handle = VK_NULL_HANDLE;
    std::mutex mutex;
};

class LogicalDevice {
public:
    LogicalDevice(std::shared_ptr<Instance> instance, const PhysicalDevice& physical);
    ~LogicalDevice();
    LogicalDevice(const LogicalDevice&) = delete;
    LogicalDevice& operator=(const LogicalDevice&) = delete;

    /// The device's own functions. Tests replace entries to make them fail.
    VolkDeviceTable vk{};
    /// Of its timestamps; calibrated by queues that take some (vulkan_times.hpp).
    backends::DeviceClock clock;

    [[nodiscard]] const Instance& instance() const noexcept { return *instance_; }
    [[nodiscard]] VkDevice handle() const noexcept { return handle_; }
    [[nodiscard]] const PhysicalDevice& physical() const noexcept { return physical_; }
    /// "vulkan:0 (llvmpipe ...)"
    [[nodiscard]] const std::string& name() const noexcept { return physical_.target.device; }
    /// Push constants of the device's full size, nothing else: all pipelines use this one layout.
    [[nodiscard]] VkPipelineLayout layout() const noexcept { return layout_; }
    /// Deals out the driver's queues in turn.
    [[nodiscard]] SharedQueue& next_queue() noexcept;

    [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    void mark_lost() noexcept { lost_.store(true, std::memory_order_release); }
    void check_lost() const {
        if (lost()) fail_lost();
    }
    /// Throws what a failed call means: DeviceError (DeviceLost), MemoryError, or DeviceError (Unsupported).
    void check(VkResult result, std::string_view call) {
        if (result < 0) fail_call(result, call);
    }
    [[noreturn]] void fail_lost() const;

private:
    [[noreturn]] void fail_call(VkResult result, std::string_view call);

    std::shared_ptr<Instance> instance_;
    PhysicalDevice physical_;
    VkDevice handle_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    std::vector<std::unique_ptr<SharedQueue>> queues_;
    std::atomic<unsigned> next_queue_{0};
    std::atomic<bool> lost_{false};
};

}  // namespace volley::backends::vulkan
