// One cl_context of one device, with its table of functions. Memory, programs and queues share it, so it ends
// after the last of them.
//
// Once the driver has reported the device as lost, it stays so: every later call on it throws, and everything
// that was handed to it counts as over.
#pragma once

#include "backends/common/device_clock.hpp"
#include "backends/opencl/opencl_physical.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace volley::backends::opencl {

/// The most queues that a device has at once: kernels keep an object for each.
inline constexpr unsigned max_queues = 64;

class LogicalDevice {
public:
    LogicalDevice(const Api& api, const PhysicalDevice& physical);
    ~LogicalDevice();
    LogicalDevice(const LogicalDevice&) = delete;
    LogicalDevice& operator=(const LogicalDevice&) = delete;

    /// The device's own functions. Tests replace entries to make them fail.
    Api cl;

    [[nodiscard]] cl_context context() const noexcept { return context_; }
    [[nodiscard]] const PhysicalDevice& physical() const noexcept { return physical_; }
    /// "opencl:0 (pthread ...)"
    [[nodiscard]] const std::string& name() const noexcept { return physical_.target.device; }
    /// Of its events' times; calibrated by queues that take some (opencl_times.hpp).
    backends::DeviceClock clock;
    /// A new in-order queue of the driver's; `timed`: its events keep times.
    [[nodiscard]] cl_command_queue make_queue(bool timed = false);
    /// A queue's number, below max_queues, until it is given back. Throws where all are taken.
    [[nodiscard]] unsigned take_slot();
    void give_back_slot(unsigned slot) noexcept;

    [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }
    void mark_lost() noexcept { lost_.store(true, std::memory_order_release); }
    void check_lost() const {
        if (lost()) fail_lost();
    }
    /// Throws what a failed call means: DeviceError (DeviceLost), MemoryError, or DeviceError (Unsupported).
    void check(cl_int result, std::string_view call) {
        if (result != CL_SUCCESS) fail_call(result, call);
    }
    [[noreturn]] void fail_lost() const;
    [[noreturn]] void fail_call(cl_int result, std::string_view call);

private:
    PhysicalDevice physical_;
    cl_context context_ = nullptr;
    std::atomic<bool> lost_{false};
    std::mutex mutex_;
    std::uint64_t slots_ = 0;  // a bit for each that is taken
};

/// Whether the driver says that the device is gone.
[[nodiscard]] constexpr bool means_lost(cl_int result) noexcept {
    return result == CL_DEVICE_NOT_AVAILABLE || result == CL_INVALID_DEVICE || result == CL_INVALID_CONTEXT ||
           result == CL_INVALID_COMMAND_QUEUE;
}

}  // namespace volley::backends::opencl
