// The order of a queue's work as a counter. Each submission is a point; a point has passed when all work up
// to and including it has completed. Waiting, memory reuse and ordering between queues all use this
// mechanism.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace volley::backends {

using Point = std::uint64_t;  // 0 has always passed

class Timeline {
public:
    virtual ~Timeline() = default;

    /// Returns the last point that has passed. Never blocks.
    [[nodiscard]] virtual Point completed() const noexcept = 0;
    /// Blocks until `point` has passed. Rethrows (once) the error of a failed command at or before it. The
    /// waiting thread may run some of the work.
    virtual void wait(Point point) = 0;
    /// Like wait(), but returns false on timeout, at most a few milliseconds late: the thread runs no work
    /// that might take longer. Keeps errors for a later wait().
    virtual bool wait_for(Point point, std::chrono::nanoseconds timeout) = 0;
    /// Returns whether the device is lost: every point counts as passed, and submissions fail.
    [[nodiscard]] virtual bool lost() const noexcept { return false; }
};

}  // namespace volley::backends
