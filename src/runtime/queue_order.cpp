// Submits waits between queues, each at most once.
#include "runtime/queue_order.hpp"

#include "runtime/command_times.hpp"
#include "runtime/context_core.hpp"

namespace volley::runtime {

QueueOrder::QueueOrder(ContextCore& core)
    : core_(core),
      queues_(core.queue_count()),
      overlapping_(std::make_unique<bool[]>(queues_)),
      queue_mutexes_(std::make_unique<std::mutex[]>(queues_)),
      ordered_(queues_ * queues_) {
    for (unsigned k = 0; k < queues_; ++k) overlapping_[k] = core.queue(k).overlaps();
}

void QueueOrder::after(unsigned queue, QueuePoint point) {
    std::atomic<backends::Point>& submitted = ordered_[std::size_t{queue} * queues_ + point.queue];
    backends::Point known = submitted.load(std::memory_order_acquire);
    if (known >= point.point || core_.passed(point)) return;
    // Launches of the queue itself get their point when they are submitted: ordered().
    if (queue != point.queue) after(queue, core_.queue(point.queue).timeline(), point.point);
    // Stored last, so that a thread that sees the point submits its command after the wait.
    while (known < point.point &&
           !submitted.compare_exchange_weak(known, point.point, std::memory_order_acq_rel)) {
    }
}

void QueueOrder::after(unsigned queue, backends::Timeline& other, backends::Point point) {
    // The wait is submitted while another command is being submitted, and is not timed with it.
    const backends::TimesScope separate({});
    const TimedCommand timed(core_, queue, [] { return CommandLabel{.kind = CommandKind::Wait}; });
    timed.submit([&] { core_.queue(queue).wait_for(other, point); });
}

}  // namespace volley::runtime
