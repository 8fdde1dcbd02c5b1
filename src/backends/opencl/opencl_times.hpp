// When commands ran, by the events of a queue that keeps times. Made only for commands of which somebody
// wants to know that (backends/api/times.hpp).
#pragma once

#include "backends/api/times.hpp"
#include "backends/opencl/opencl_logical.hpp"

#include <cstdint>
#include <memory>

namespace volley::backends::opencl {

/// One command of a queue of ours, which may be several of the driver's.
class TimedEvents {
public:
    explicit TimedEvents(std::shared_ptr<LogicalDevice> device);
    ~TimedEvents();
    TimedEvents(const TimedEvents&) = delete;
    TimedEvents& operator=(const TimedEvents&) = delete;

    /// Before the first of several calls to the driver: the command begins when what is before it is done.
    void begin(cl_command_queue queue);
    /// The event of the last call, or of the only one.
    void end(cl_event event) noexcept;
    /// When that is done.
    void tell(backends::TimeOrder& order) const noexcept;

private:
    std::shared_ptr<LogicalDevice> device_;
    backends::TimesTag tag_;
    cl_event first_ = nullptr;
    cl_event last_ = nullptr;
    std::int64_t made_;
};

/// Finds out anew where the device's clock stands, if it is time to. Waits for no work.
void calibrate_clock(LogicalDevice& device);

}  // namespace volley::backends::opencl
