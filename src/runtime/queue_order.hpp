// The order between the queues of a context: the locks that submissions take, and the waits already
// submitted.
#pragma once

#include "runtime/queue_point.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace volley::runtime {

class ContextCore;

class QueueOrder {
public:
    /// The context's queues must exist.
    explicit QueueOrder(ContextCore& core);

    /// Makes later commands of `queue` start after that point, unless they do already.
    void after(unsigned queue, QueuePoint point);
    /// Makes later commands of `queue` start after a point of any timeline.
    void after(unsigned queue, backends::Timeline& other, backends::Point point);
    /// Returns the last of the queue's own points that after() was called with. Launches of a queue whose
    /// commands may overlap follow at least this one.
    [[nodiscard]] backends::Point ordered(unsigned queue) const noexcept {
        return ordered_[std::size_t{queue} * queues_ + queue].load(std::memory_order_acquire);
    }
    /// By queue: backends::Queue::overlaps().
    [[nodiscard]] const bool* overlapping() const noexcept { return overlapping_.get(); }

    /// Held from ordering to recording by commands that use a replica of several queues, so that two threads
    /// on two queues cannot pass each other. Taken before any other lock of the runtime.
    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
    /// Held from ordering to recording, after lock(): a launch of a queue whose commands may overlap must
    /// know all earlier commands of that queue. Empty for other queues. Of two queues, the lower number is
    /// locked first.
    [[nodiscard]] std::unique_lock<std::mutex> lock(unsigned queue) {
        return overlapping_[queue] ? std::unique_lock(queue_mutexes_[queue]) : std::unique_lock<std::mutex>();
    }

private:
    ContextCore& core_;
    std::size_t queues_;
    std::unique_ptr<bool[]> overlapping_;
    std::unique_ptr<std::mutex[]> queue_mutexes_;
    std::mutex mutex_;
    std::vector<std::atomic<backends::Point>> ordered_;  // [queue * queues + other]: waits already submitted
};

}  // namespace volley::runtime
