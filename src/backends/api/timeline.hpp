// The order of a queue's work as a counter: each submission is a point; a point has passed when all work up
// to and including it is done. The one mechanism for waiting, for reusing memory and for ordering queues.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace volley::backends {

using Point = std::uint64_t;  // 0 has always passed

class Timeline {
public:
    virtual ~Timeline() = default;

    /// The last point that has passed. Never blocks.
    [[nodiscard]] virtual Point completed() const noexcept = 0;
    /// Blocks until `point` has passed. Rethrows the error of a failed command at or before it (once). A
    /// waiting thread may help with the work.
    virtual void wait(Point point) = 0;
    /// As wait, but gives up: false when the time ran out. Keeps errors for a later wait().
    virtual bool wait_for(Point point, std::chrono::nanoseconds timeout) = 0;
    /// Whether its device is gone: everything counts as passed, and nothing can be given to it.
    [[nodiscard]] virtual bool lost() const noexcept { return false; }
};

}  // namespace volley::backends
