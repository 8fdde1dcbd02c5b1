// A cl_context of one device, with its function table. Memory, programs and queues share ownership of it.
//
// A device that the driver has reported as lost stays lost: every later call throws, and all submitted work
// counts as completed.
#pragma once

#include "backends/common/device_clock.hpp"
#include "backends/common/host_cores.hpp"
#include "backends/opencl/opencl_physical.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace volley::backends::opencl {

/// The maximum number of queues per device: kernels have one object per queue.
inline constexpr unsigned max_queues = 64;

class LogicalDevice {
public:
    LogicalDevice(const Api& api, const PhysicalDevice& physical);
    ~LogicalDevice();
    LogicalDevice(const LogicalDevice&) = delete;
    LogicalDevice& operator=(const LogicalDevice&) = delete;

    /// The device's function table. Tests replace entries to simulate failures.
    Api cl;

    [[nodiscard]] cl_context context() const noexcept { return context_; }
    [[nodiscard]] const PhysicalDevice& physical() const noexcept { return physical_; }
    /// For example "opencl:0 (pthread ...)".
    [[nodiscard]] const std::string& name() const noexcept { return physical_.target.device; }
    /// The clock of its events; queues that use it calibrate it (opencl_times.hpp).
    backends::DeviceClock clock;
    /// Creates an in-order command queue; `timed` enables profiling of its events.
    [[nodiscard]] cl_command_queue make_queue(bool timed = false);
    /// Returns a queue number below max_queues, reserved until it is released. Throws if all are in use.
    [[nodiscard]] unsigned take_slot();
    void give_back_slot(unsigned slot) noexcept;

    [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    void mark_lost() noexcept { lost_.store(true, std::memory_order_release); }
    void check_lost() const {
        if (lost()) fail_lost();
    }
    /// Throws the exception for a failed call: DeviceError (DeviceLost), MemoryError, or DeviceError
    /// (Unsupported).
    void check(cl_int result, std::string_view call) {
        if (result != CL_SUCCESS) fail_call(result, call);
    }
    [[noreturn]] void fail_lost() const;
    [[noreturn]] void fail_call(cl_int result, std::string_view call);

private:
    PhysicalDevice physical_;
    backends::HostCoresUse host_cores_{physical_.info.software};
    cl_context context_ = nullptr;
    std::atomic<bool> lost_{false};
    std::mutex mutex_;
    std::uint64_t slots_ = 0;  // bit mask of the slots in use
};

/// Returns whether the error means that the device is lost.
[[nodiscard]] constexpr bool means_lost(cl_int result) noexcept {
    return result == CL_DEVICE_NOT_AVAILABLE || result == CL_INVALID_DEVICE || result == CL_INVALID_CONTEXT ||
           result == CL_INVALID_COMMAND_QUEUE;
}

}  // namespace volley::backends::opencl
