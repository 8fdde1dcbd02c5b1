// Positions on the queues of a context.
#pragma once

#include "backends/api/timeline.hpp"

#include <algorithm>

namespace volley::runtime {

/// A point on a queue's timeline.
struct QueuePoint {
    unsigned queue = 0;
    backends::Point point = 0;
};

/// Consecutive queues: begin to end - 1.
struct QueueRange {
    unsigned begin = 0;
    unsigned end = 0;
    [[nodiscard]] bool contains(unsigned queue) const noexcept { return queue >= begin && queue < end; }
    [[nodiscard]] unsigned count() const noexcept { return end - begin; }
    [[nodiscard]] bool empty() const noexcept { return begin >= end; }
};
[[nodiscard]] inline QueueRange intersect(QueueRange a, QueueRange b) noexcept {
    return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace volley::runtime
