// The thread that runs host commands.
#include "backends/common/host_commands.hpp"

#include "backends/api/times.hpp"
#include "backends/common/thread.hpp"
#include "core/fail.hpp"

#include <chrono>
#include <exception>
#include <utility>

namespace volley::backends {

Point HostCommands::call(std::function<void()> callback) {
    if (!callback) fail_internal("a queue's callback is empty");
    Point point = 0;
    {
        const Lock lock(mutex_);
        timeline_.check_lost();
        point = add(std::move(callback));
    }
    wake();
    return point;
}

Point HostCommands::wait_for(Timeline& other, Point point, DeviceTimeline* sibling,
                             const std::function<Point(Epilogue*)>& on_device) {
    if (&other == &timeline_) return timeline_.last();
    if (other.completed() >= point) return timeline_.last();
    // The device does not signal points that the host reaches. A point of the device becomes one when its
    // command cannot be submitted.
    const bool under_way = sibling != nullptr && sibling->is_under_way(point);
    Point own = 0;
    {
        const Lock lock(mutex_);
        timeline_.check_lost();
        if (under_way && empty()) {
            Epilogue epilogue;
            epilogue.other = sibling;
            epilogue.other_point = point;
            return on_device(sibling->has_epilogue(point) ? &epilogue : nullptr);
        }
        own = add([this, &other, sibling, point] {
            using Clock = DeviceTimeline::Clock;
            constexpr auto look = std::chrono::seconds(1);  // for a lost device
            // Errors of the other queue are rethrown by waits on its own timeline.
            const auto passes = [&] {
                return sibling != nullptr ? sibling->await(point, Clock::now() + look)
                                          : other.wait_for(point, look);
            };
            while (!timeline_.lost() && !passes()) {
            }
        });
    }
    wake();
    return own;
}

Point HostCommands::add(std::function<void()> action) {
    const Point point = timeline_.last() + 1;
    start();
    if (TimesScope::requested()) {
        action = [this, tag = TimesScope::tag(), run = std::move(action)] {
            const TimesScope scope(tag);
            const TimedHere timed(&timeline_.times());
            const TimesScope others({});  // commands that the action submits are not timed
            run();
        };
    }
    pending_.push_back({point, true, std::move(action)});
    timeline_.issue(point);
    return point;
}

void HostCommands::defer(Point point, std::function<void()> submit) {
    pending_.push_back({point, false, std::move(submit)});
}

void HostCommands::start() {
    if (!thread_.joinable()) thread_ = start_thread("a queue's callbacks", [this] { run_thread(); });
}

void HostCommands::stop() {
    {
        const Lock lock(mutex_);
        stop_ = true;
    }
    wake();
    if (thread_.joinable()) thread_.join();
}

void HostCommands::run_thread() {
    Lock lock(mutex_);
    for (;;) {
        Point print = 0;
        wake_.wait(lock, [&] {
            if (stop_) return true;
            if (timeline_.lost()) return false;
            print = timeline_.first_print();
            return !pending_.empty() || print != 0;
        });
        if (stop_) return;
        if (!pending_.empty()) {
            run_first(lock);
        } else {
            lock.unlock();
            timeline_.await(print, DeviceTimeline::forever);
            lock.lock();
        }
    }
}

void HostCommands::run_first(Lock& lock) {
    const Point point = pending_.front().point;
    std::function<void()> action = std::move(pending_.front().run);
    lock.unlock();
    timeline_.await(point - 1, DeviceTimeline::forever);
    try {
        if (!timeline_.lost()) action();
    } catch (...) {
        timeline_.add_error(point, std::current_exception());
    }
    action = nullptr;  // release the captures without holding the lock
    lock.lock();
    if (!timeline_.lost()) {
        pending_.pop_front();
        timeline_.pass(point);
        submit_pending();
    }
    if (timeline_.lost()) {
        pending_.clear();
        timeline_.hand(timeline_.last());
    }
}

void HostCommands::submit_pending() {
    while (!pending_.empty() && !pending_.front().host) {
        Pending& next = pending_.front();
        try {
            next.run();
        } catch (...) {
            // Turn it into a host command that rethrows the error when it runs.
            next.run = [error = std::current_exception()] { std::rethrow_exception(error); };
            next.host = true;
            timeline_.drop(next.point);
            return;
        }
        timeline_.hand(next.point);
        pending_.pop_front();
    }
}

}  // namespace volley::backends
