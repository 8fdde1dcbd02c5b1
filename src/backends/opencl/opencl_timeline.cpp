// Polls events, and sleeps until an event callback.
#include "backends/opencl/opencl_timeline.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <thread>

namespace volley::backends::opencl {

struct OpenClTimeline::WakeUp {
    std::shared_ptr<Sleeper> sleeper;
    Point point = 0;
};

OpenClTimeline::OpenClTimeline(std::shared_ptr<LogicalDevice> device, backends::ReportPool& reports)
    : DeviceTimeline(reports, device->physical().info.software),
      device_(std::move(device)),
      events_(256),
      sleeper_(std::make_shared<Sleeper>()) {}

OpenClTimeline::~OpenClTimeline() {
    for (; count_ > 0; --count_) {
        device_->cl.ReleaseEvent(events_[first_].event);
        first_ = (first_ + 1) % events_.size();
    }
}

std::size_t OpenClTimeline::in_flight() const {
    const std::scoped_lock lock(events_mutex_);
    return count_;
}

Point OpenClTimeline::half_way() const {
    const std::scoped_lock lock(events_mutex_);
    return count_ == 0 ? done_ : events_[(first_ + count_ / 2) % events_.size()].point;
}

void OpenClTimeline::reserve(std::size_t events) {
    const std::scoped_lock lock(events_mutex_);
    if (count_ + events <= events_.size()) return;
    std::vector<Entry> more(std::bit_ceil(count_ + events));
    for (std::size_t i = 0; i < count_; ++i) more[i] = events_[(first_ + i) % events_.size()];
    events_ = std::move(more);
    first_ = 0;
}

void OpenClTimeline::keep(Point point, cl_event event, bool last) noexcept {
    const std::scoped_lock lock(events_mutex_);
    events_[(first_ + count_) % events_.size()] = {point, event, last};
    ++count_;
}

HeldEvent OpenClTimeline::event_of(Point point) const {
    const std::scoped_lock lock(events_mutex_);
    for (std::size_t i = 0; i < count_; ++i) {
        const Entry& entry = events_[(first_ + i) % events_.size()];
        if (entry.point < point || !entry.last) continue;
        device_->cl.RetainEvent(entry.event);
        return {device_->cl, entry.event};
    }
    return {};
}

HeldEvent OpenClTimeline::newest() const {
    const std::scoped_lock lock(events_mutex_);
    if (count_ == 0) return {};
    const cl_event event = events_[(first_ + count_ - 1) % events_.size()].event;
    device_->cl.RetainEvent(event);
    return {device_->cl, event};
}

Point OpenClTimeline::ask() const noexcept {
    const std::unique_lock lock(events_mutex_, std::try_to_lock);
    if (!lock) return 0;  // another thread is polling
    while (count_ > 0) {
        const Entry& entry = events_[first_];
        cl_int status = CL_QUEUED;
        const cl_int asked = device_->cl.GetEventInfo(entry.event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                                      sizeof status, &status, nullptr);
        if (asked != CL_SUCCESS) status = asked;
        if (status > CL_COMPLETE) break;
        if (status < 0) const_cast<OpenClTimeline*>(this)->add_failure(entry.point, status);
        device_->cl.ReleaseEvent(entry.event);
        if (entry.last) done_ = entry.point;
        first_ = (first_ + 1) % events_.size();
        --count_;
    }
    return done_;
}

void OpenClTimeline::add_failure(Point point, cl_int status) noexcept {
    // The command depended on one that failed; waits for that one report the error.
    if (status == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return;
    if (means_lost(status)) {
        device_->mark_lost();
        return;
    }
    try {
        device_->fail_call(status, "a command");
    } catch (...) {
        add_error(point, std::current_exception());
    }
}

void CL_CALLBACK OpenClTimeline::on_done(cl_event /*event*/, cl_int /*status*/, void* data) {
    const std::unique_ptr<WakeUp> wake(static_cast<WakeUp*>(data));
    {
        const std::scoped_lock lock(wake->sleeper->mutex);
        wake->sleeper->reached = std::max(wake->sleeper->reached, wake->point);
    }
    wake->sleeper->woken.notify_all();
}

void OpenClTimeline::sleep_on_device(Point point, Clock::time_point deadline) {
    const HeldEvent event = event_of(point);
    if (event.get() == nullptr) return;
    if (called_.exchange(point) != point) {
        auto wake = std::make_unique<WakeUp>(WakeUp{sleeper_, point});
        const cl_int result = device_->cl.SetEventCallback(event.get(), CL_COMPLETE, on_done, wake.get());
        if (result != CL_SUCCESS) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            return;
        }
        static_cast<void>(wake.release());  // now owned by the callback
    }
    std::unique_lock lock(sleeper_->mutex);
    sleeper_->woken.wait_until(lock, deadline, [&] { return sleeper_->reached >= point || lost(); });
}

}  // namespace volley::backends::opencl
