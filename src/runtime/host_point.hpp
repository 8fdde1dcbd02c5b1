// A point that the host reaches: what events of the host's own work and signals wait for. A timeline, so that
// queues can wait for it as for each other.
#pragma once

#include "backends/api/timeline.hpp"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace volley::runtime {

/// Its one point is 1. Thread-safe.
class HostPoint final : public backends::Timeline {
public:
    [[nodiscard]] backends::Point completed() const noexcept override {
        return passed_.load(std::memory_order_acquire);
    }
    void wait(backends::Point point) override;
    bool wait_for(backends::Point point, std::chrono::nanoseconds timeout) override;

    /// It has passed; `error` is for the first who waits. Calls those who follow.
    void pass(std::exception_ptr error = nullptr) noexcept;
    /// Calls a function, which throws nothing, when it has passed: then by who passes it, or else right here.
    void follow(std::function<void()> function);

private:
    std::atomic<backends::Point> passed_{0};
    std::mutex mutex_;
    std::condition_variable progress_;
    std::exception_ptr error_;
    std::vector<std::function<void()>> followers_;
};

}  // namespace volley::runtime
