// The timeline of an OpenCL queue: each command's point has its event, kept until it is seen to be done.
//
// As the driver's queue works in order, the events are done in the order of their points.
#pragma once

#include "backends/common/device_timeline.hpp"
#include "backends/opencl/opencl_logical.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace volley::backends::opencl {

/// An event of the driver's, released with it.
class HeldEvent {
public:
    HeldEvent() = default;
    HeldEvent(const Api& cl, cl_event event) : cl_(&cl), event_(event) {}
    ~HeldEvent() {
        if (event_ != nullptr) cl_->ReleaseEvent(event_);
    }
    HeldEvent(HeldEvent&& other) noexcept : cl_(other.cl_), event_(other.event_) { other.event_ = nullptr; }
    HeldEvent& operator=(HeldEvent&&) = delete;
    [[nodiscard]] const cl_event& get() const noexcept { return event_; }

private:
    const Api* cl_ = nullptr;
    cl_event event_ = nullptr;
};

class OpenClTimeline final : public backends::DeviceTimeline {
public:
    OpenClTimeline(std::shared_ptr<LogicalDevice> device, backends::ReportPool& reports);
    ~OpenClTimeline() override;

    [[nodiscard]] const LogicalDevice& device() const noexcept { return *device_; }
    [[nodiscard]] bool lost() const noexcept override { return device_->lost(); }
    void check_lost() const override { device_->check_lost(); }
    /// Commands of the driver's that were given to it and are not known to be done.
    [[nodiscard]] std::size_t in_flight() const;
    /// Room for so many events, so that keeping them cannot fail.
    void reserve(std::size_t events = 1);
    /// The event of a command that the device was given; points only grow. A command of several parts has
    /// passed with its last one, and failed with any.
    void keep(backends::Point point, cl_event event, bool last = true) noexcept;
    /// The point with which half of them will be done.
    [[nodiscard]] backends::Point half_way() const;
    /// The event that says that a point has passed, or none where it is known to.
    [[nodiscard]] HeldEvent event_of(backends::Point point) const;
    /// The event of the newest command that the device was given, or none where it is known to be done.
    [[nodiscard]] HeldEvent newest() const;

private:
    struct Entry {
        backends::Point point = 0;
        cl_event event = nullptr;
        bool last = true;  // of its point
    };
    /// Woken by the driver's threads, which may do so after this timeline's end.
    struct Sleeper {
        std::mutex mutex;
        std::condition_variable woken;
        backends::Point reached = 0;
    };
    struct WakeUp;

    [[nodiscard]] backends::Point ask() const noexcept override;
    void sleep_on_device(backends::Point point, Clock::time_point deadline) override;
    void pause() const noexcept override;
    void add_failure(backends::Point point, cl_int status) noexcept;
    static void CL_CALLBACK on_done(cl_event event, cl_int status, void* data);

    std::shared_ptr<LogicalDevice> device_;
    bool on_host_;  // the device computes with the host's own cores

    mutable std::mutex events_mutex_;
    mutable std::vector<Entry> events_;  // a ring, of which the size is a power of two
    mutable std::size_t first_ = 0;
    mutable std::size_t count_ = 0;
    mutable backends::Point done_ = 0;
    std::shared_ptr<Sleeper> sleeper_;
    std::atomic<backends::Point> called_{0};  // the last point that a wake-up was asked for
};

}  // namespace volley::backends::opencl
