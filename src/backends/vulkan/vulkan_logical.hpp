// A VkDevice with its function table and its VkQueues. Memory, programs and queues share ownership of it.
//
// A device that the driver has reported as lost stays lost: every later call throws, and all submitted work
// counts as completed.
#pragma once

#include "backends/common/device_clock.hpp"
#include "backends/common/host_cores.hpp"
#include "backends/vulkan/vulkan_instance.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace volley::backends::vulkan {

/// A VkQueue. Several of our queues may share one, so submissions must hold the mutex.
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

    /// The device's function table. Tests replace entries to simulate failures.
    VolkDeviceTable vk{};
    /// The clock of its timestamps; queues that use it calibrate it (vulkan_times.hpp).
    backends::DeviceClock clock;

    [[nodiscard]] const Instance& instance() const noexcept { return *instance_; }
    [[nodiscard]] VkDevice handle() const noexcept { return handle_; }
    [[nodiscard]] const PhysicalDevice& physical() const noexcept { return physical_; }
    /// For example "vulkan:0 (llvmpipe ...)".
    [[nodiscard]] const std::string& name() const noexcept { return physical_.target.device; }
    /// Returns the layout of all generated pipelines: push constants of the maximum size and nothing else.
    [[nodiscard]] VkPipelineLayout layout() const noexcept { return layout_; }
    /// Returns the driver's queues in rotation.
    [[nodiscard]] SharedQueue& next_queue() noexcept;

    [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    void mark_lost() noexcept { lost_.store(true, std::memory_order_release); }
    void check_lost() const {
        if (lost()) fail_lost();
    }
    /// Throws the exception for a failed call: DeviceError (DeviceLost), MemoryError, or DeviceError
    /// (Unsupported).
    void check(VkResult result, std::string_view call) {
        if (result < 0) fail_call(result, call);
    }
    [[noreturn]] void fail_lost() const;

private:
    [[noreturn]] void fail_call(VkResult result, std::string_view call);

    std::shared_ptr<Instance> instance_;
    PhysicalDevice physical_;
    backends::HostCoresUse host_cores_{physical_.info.software};
    VkDevice handle_ = VK_NULL_HANDLE;
    VkPipelineLayout layout_ = VK_NULL_HANDLE;
    std::vector<std::unique_ptr<SharedQueue>> queues_;
    std::atomic<unsigned> next_queue_{0};
    std::atomic<bool> lost_{false};
};

}  // namespace volley::backends::vulkan
