// What events say, and what that means on the host's clock.
#include "backends/opencl/opencl_times.hpp"

#include <algorithm>
#include <optional>

namespace volley::backends::opencl {
namespace {

/// In nanoseconds of the device's clock.
std::optional<std::int64_t> time_of(LogicalDevice& device, cl_event event, cl_profiling_info what) {
    cl_ulong time = 0;
    if (device.cl.GetEventProfilingInfo(event, what, sizeof time, &time, nullptr) != CL_SUCCESS)
        return std::nullopt;
    return static_cast<std::int64_t>(time);
}

/// A queue of the driver's for the time of a scope.
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

void TimedEvents::tell(backends::TimeOrder& order) const noexcept {
    if (last_ == nullptr) return;  // it failed
    const std::optional<std::int64_t> begin = first_ != nullptr
                                                  ? time_of(*device_, first_, CL_PROFILING_COMMAND_END)
                                                  : time_of(*device_, last_, CL_PROFILING_COMMAND_START);
    const std::optional<std::int64_t> end = time_of(*device_, last_, CL_PROFILING_COMMAND_END);
    if (begin && end) {
        // Nothing begins before it is given, whatever a translated clock says.
        order.tell(tag_, std::max(device_->clock.to_host(*begin), made_), device_->clock.to_host(*end));
    } else {
        order.tell(tag_, made_, backends::steady_now());  // a driver that keeps no times: as the host saw it
    }
}

void calibrate_clock(LogicalDevice& device) {
    if (!device.clock.is_due()) return;
    const ClockQueue queue(device);
    device.clock.calibrate([&] { return queue.sample(); });
}

}  // namespace volley::backends::opencl
