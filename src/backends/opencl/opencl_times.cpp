// Reads event times and translates them to the host's clock.
#include "backends/opencl/opencl_times.hpp"

#include <algorithm>
#include <optional>

namespace volley::backends::opencl {
namespace {

/// Returns a time in nanoseconds of the device's clock.
std::optional<std::int64_t> time_of(LogicalDevice& device, cl_event event, cl_profiling_info what) {
    cl_ulong time = 0;
    if (device.cl.GetEventProfilingInfo(event, what, sizeof time, &time, nullptr) != CL_SUCCESS)
        return std::nullopt;
    return static_cast<std::int64_t>(time);
}

/// A command queue that lives for one scope.
struct ClockQueue {
    explicit ClockQueue(LogicalDevice& owner) : device(owner), handle(owner.make_queue(true)) {}
    ~ClockQueue() { device.cl.ReleaseCommandQueue(handle); }
    ClockQueue(const ClockQueue&) = delete;
    ClockQueue& operator=(const ClockQueue&) = delete;

    [[nodiscard]] std::int64_t sample() const {
        cl_event event = nullptr;
        device.check(device.cl.EnqueueMarkerWithWaitList(handle, 0, nullptr, &event),
                     "clEnqueueMarkerWithWaitList");
        const cl_int waited = device.cl.WaitForEvents(1, &event);
        const std::optional<std::int64_t> time = time_of(device, event, CL_PROFILING_COMMAND_END);
        device.cl.ReleaseEvent(event);
        device.check(waited, "clWaitForEvents");
        return time.value_or(0);
    }

    LogicalDevice& device;
    cl_command_queue handle;
};

}  // namespace

TimedEvents::TimedEvents(std::shared_ptr<LogicalDevice> device)
    : device_(std::move(device)), tag_(backends::TimesScope::tag()), made_(backends::steady_now()) {}

TimedEvents::~TimedEvents() {
    if (first_ != nullptr) device_->cl.ReleaseEvent(first_);
    if (last_ != nullptr) device_->cl.ReleaseEvent(last_);
}

void TimedEvents::begin(cl_command_queue queue) {
    device_->check(device_->cl.EnqueueMarkerWithWaitList(queue, 0, nullptr, &first_),
                   "clEnqueueMarkerWithWaitList");
}

void TimedEvents::end(cl_event event) noexcept {
    device_->cl.RetainEvent(event);
    last_ = event;
}

void TimedEvents::report(backends::TimeOrder& order) const noexcept {
    if (last_ == nullptr) return;  // the command failed
    const std::optional<std::int64_t> begin = first_ != nullptr
                                                  ? time_of(*device_, first_, CL_PROFILING_COMMAND_END)
                                                  : time_of(*device_, last_, CL_PROFILING_COMMAND_START);
    const std::optional<std::int64_t> end = time_of(*device_, last_, CL_PROFILING_COMMAND_END);
    if (begin && end) {
        // A command cannot begin before its submission, even if the translated clock is behind.
        order.report(tag_, std::max(device_->clock.to_host(*begin), made_), device_->clock.to_host(*end));
    } else {
        order.report(tag_, made_, backends::steady_now());  // the driver keeps no times, so use the host's
    }
}

void calibrate_clock(LogicalDevice& device) {
    if (!device.clock.is_due()) return;
    const ClockQueue queue(device);
    device.clock.calibrate([&] { return queue.sample(); });
}

}  // namespace volley::backends::opencl
