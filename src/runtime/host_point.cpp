// Implements the waits and callbacks of a HostPoint.
#include "runtime/host_point.hpp"

#include <algorithm>
#include <utility>

namespace volley::runtime {

void HostPoint::wait(backends::Point point) {
    if (point == 0) return;
    std::unique_lock lock(mutex_);
    progress_.wait(lock, [&] { return completed() != 0; });
    if (const std::exception_ptr error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
}

bool HostPoint::wait_for(backends::Point point, std::chrono::nanoseconds timeout) {
    if (point == 0 || completed() != 0) return true;
    // Waits for at most a day: nanoseconds::max() would overflow the clock.
    const auto time = std::min<std::chrono::nanoseconds>(timeout, std::chrono::hours(24));
    std::unique_lock lock(mutex_);
    return progress_.wait_for(lock, time, [&] { return completed() != 0; });
}

void HostPoint::pass(std::exception_ptr error) noexcept {
    std::vector<std::function<void()>> followers;
    {
        const std::scoped_lock lock(mutex_);
        if (completed() != 0) return;
        error_ = std::move(error);
        passed_.store(1, std::memory_order_release);
        progress_.notify_all();
        followers.swap(followers_);
    }
    for (const std::function<void()>& follower : followers) follower();
}

void HostPoint::follow(std::function<void()> function) {
    {
        const std::scoped_lock lock(mutex_);
        if (completed() == 0) {
            followers_.push_back(std::move(function));
            return;
        }
    }
    function();
}

}  // namespace volley::runtime
