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
class HostPoint final : public backend::Timeline {
public:
    [[nodiscard]] backend::Point completed() const noexcept override {
        return passed_.load(std::memory_order_acquire);
    }
    void wait(backend::Point point) override;
    bool wait_for(backend::Point point, std::chrono::nanoseconds timeout) override;

    /// It has passed; `error` is for the first who waits. Calls those who follow.
    void pass(std::exception_ptr error = nullptr) noexcept;
    /// Calls a function, which throws nothing, when it has passed: then by who passes it, or else right here.
    void follow(std::function<void()> function);

private:
    std::atomic<backend::Point> passed_{0};
    std::mutex mutex_;
    std::condition_variable progress_;
    std::exception_ptr error_;
    std::vector<std::function<void()>> followers_;
};

}  // namespace volley::runtime
