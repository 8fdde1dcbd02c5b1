// Errors of a queue's commands, kept until a wait throws them.
#pragma once

#include "backends/api/timeline.hpp"

#include <atomic>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace volley::backends {

/// Thread-safe. Adding an error never allocates: beyond 64 the oldest is dropped.
class ErrorList {
public:
    ErrorList();
    ErrorList(const ErrorList&) = delete;
    ErrorList& operator=(const ErrorList&) = delete;

    /// Keeps the error of the command with that point. Only a command's first error is kept.
    void add(Point point, std::exception_ptr error) noexcept;
    /// Throws and removes the oldest error of the commands up to `point`, if there is one. Costs a load if
    /// the list is empty.
    void rethrow(Point point) {
        if (failed_.load(std::memory_order_acquire)) rethrow_first(point);
    }

private:
    void rethrow_first(Point point);

    std::atomic<bool> failed_{false};  // errors_ is not empty
    std::mutex mutex_;
    std::vector<std::pair<Point, std::exception_ptr>> errors_;  // in the order in which they were added
};

}  // namespace volley::backends
