// A completion point set by the host, for events of host functions and for signals. It is a timeline, so
// queues can wait for it as they wait for each other.
#pragma once

#include "backends/api/timeline.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace volley::runtime {

/// A timeline whose only point is 1. Thread-safe.
class HostPoint final : public backends::Timeline {
public:
    [[nodiscard]] backends::Point completed() const noexcept override {
        return passed_.load(std::memory_order_acquire);
    }
    void wait(backends::Point point) override;
    bool wait_for(backends::Point point, std::chrono::nanoseconds timeout) override;

    /// Marks the point as passed, and calls the functions added with follow(). The first wait() throws
    /// `error`.
    void pass(std::exception_ptr error = nullptr) noexcept;
    /// Calls `function`, which must not throw, once the point has passed: at once if it has, otherwise on the
    /// thread that calls pass().
    void follow(std::function<void()> function);

private:
    std::atomic<backends::Point> passed_{0};
    std::mutex mutex_;
    std::condition_variable progress_;
    std::exception_ptr error_;
    std::vector<std::function<void()>> followers_;
};

}  // namespace volley::runtime
