// The timeline of an OpenCL queue: each command's point has an event, kept until it is known to have
// completed.
//
// The driver's queue is in-order, so events complete in the order of their points.
#pragma once

#include "backends/common/device_timeline.hpp"
#include "backends/opencl/opencl_logical.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace volley::backends::opencl {

/// Owns a reference to an event.
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
    /// Returns the number of submitted driver commands not known to have completed.
    [[nodiscard]] std::size_t in_flight() const;
    /// Reserves space for `events` events, so that keep() cannot fail.
    void reserve(std::size_t events = 1);
    /// Stores the event of a submitted command; points only grow. A command of several parts has passed when
    /// its last part completes, and has failed if any part fails.
    void keep(backends::Point point, cl_event event, bool last = true) noexcept;
    /// Returns the point at which half of the events in flight will have completed.
    [[nodiscard]] backends::Point half_way() const;
    /// Returns the event that completes a point, or none if it is known to have passed.
    [[nodiscard]] HeldEvent event_of(backends::Point point) const;
    /// Returns the event of the newest submitted command, or none if it is known to have completed.
    [[nodiscard]] HeldEvent newest() const;

private:
    struct Entry {
        backends::Point point = 0;
        cl_event event = nullptr;
        bool last = true;  // of its point
    };
    /// Woken by driver threads, possibly after this timeline is destroyed.
    struct Sleeper {
        std::mutex mutex;
        std::condition_variable woken;
        backends::Point reached = 0;
    };
    struct WakeUp;

    [[nodiscard]] backends::Point ask() const noexcept override;
    void sleep_on_device(backends::Point point, Clock::time_point deadline) override;
    void add_failure(backends::Point point, cl_int status) noexcept;
    static void CL_CALLBACK on_done(cl_event event, cl_int status, void* data);

    std::shared_ptr<LogicalDevice> device_;

    mutable std::mutex events_mutex_;
    mutable std::vector<Entry> events_;  // a ring; its size is a power of two
    mutable std::size_t first_ = 0;
    mutable std::size_t count_ = 0;
    mutable backends::Point done_ = 0;
    std::shared_ptr<Sleeper> sleeper_;
    std::atomic<backends::Point> called_{0};  // the last point for which a callback was requested
};

}  // namespace volley::backends::opencl
