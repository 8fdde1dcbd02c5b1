// QueueRef: how transfers name a queue, always as their last argument.
#pragma once

#include <volley/queue.hpp>
#include <volley/shape.hpp>

#include <cstdint>
#include <limits>
#include <utility>

namespace volley {

/// One queue of a buffer's context: its number, or the Queue itself. A parameter type: it refers to the Queue
/// and must not outlive it.
///
///     buf.read(1);             // the same replica
///     buf.read(ctx.queue(1));
///
/// A function that takes a QueueRef throws LaunchError (WrongContext) for a queue of another context than the
/// buffer's, and ArgumentError (IndexError) for a negative number or a queue on which the buffer has no
/// replica. A function that takes a std::optional<QueueRef> works on all replicas unless a queue is passed.
class QueueRef {
public:
    // NOLINTBEGIN(google-explicit-constructor): calls pass plain numbers and queues
    constexpr QueueRef(ExtentInteger auto number) noexcept
        : index_(std::cmp_greater(number, std::numeric_limits<std::int64_t>::max())
                     ? std::numeric_limits<std::int64_t>::max()
                     : static_cast<std::int64_t>(number)) {}
    QueueRef(const Queue& queue) noexcept : queue_(&queue), index_(queue.index()) {}
    // NOLINTEND(google-explicit-constructor)

    /// Returns the Queue, or nullptr if the queue was named by its number.
    [[nodiscard]] const Queue* queue() const noexcept { return queue_; }
    /// Returns the number, which is not checked yet.
    [[nodiscard]] constexpr std::int64_t index() const noexcept { return index_; }

private:
    const Queue* queue_ = nullptr;
    std::int64_t index_;
};

}  // namespace volley
