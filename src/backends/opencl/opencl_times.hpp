// Times of commands, from the events of a profiling queue. Created only for commands whose times are
// requested (backends/api/times.hpp).
#pragma once

#include "backends/api/times.hpp"
#include "backends/opencl/opencl_logical.hpp"

#include <cstdint>
#include <memory>

namespace volley::backends::opencl {

/// One command of our queue, which may be several driver commands.
class TimedEvents {
public:
    explicit TimedEvents(std::shared_ptr<LogicalDevice> device);
    ~TimedEvents();
    TimedEvents(const TimedEvents&) = delete;
    TimedEvents& operator=(const TimedEvents&) = delete;

    /// Call before the first of several driver calls: the command begins when all earlier work has completed.
    void begin(cl_command_queue queue);
    /// Sets the event of the last or only driver call.
    void end(cl_event event) noexcept;
    /// Reports the times; call when that event has completed.
    void report(backends::TimeOrder& order) const noexcept;

private:
    std::shared_ptr<LogicalDevice> device_;
    backends::TimesTag tag_;
    cl_event first_ = nullptr;
    cl_event last_ = nullptr;
    std::int64_t made_;
};

/// Calibrates the device's clock if that is due. Does not wait for pending work.
void calibrate_clock(LogicalDevice& device);

}  // namespace volley::backends::opencl
