// What the four directions of a transfer share. Each checks everything, then allocates the memory of all
// replicas, then submits its commands.
#include "runtime/transfer.hpp"

#include "backends/common/host_rect.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/storage.hpp"

namespace volley::runtime {

void fail_unwritten(const AnyBuffer& buffer, unsigned k) {
    fail(ErrorCode::NotAllocated, cat("queue ", k, "'s replica was read before anything was written to it"),
         buffer.name(), "write to it, or run a kernel on that queue that does");
}

std::vector<unsigned> target_queues(const AnyBuffer& buffer, std::optional<QueueRef> queue) {
    if (queue) return {queue_index(buffer, *queue)};
    Storage& storage = storage_of(buffer);
    std::vector<unsigned> queues;
    for (unsigned r = 0; r < storage.replica_count(); ++r) queues.push_back(storage.home(r));
    return queues;
}

std::optional<unsigned> recorded_queue(std::optional<QueueRef> queue, const std::vector<unsigned>& targets) {
    return queue ? std::optional(targets.front()) : std::nullopt;
}

void prepare_targets(const AnyBuffer& buffer, const std::vector<unsigned>& queues) {
    Storage& storage = storage_of(buffer);
    for (const unsigned k : queues) storage.check_not_mapped(k);
    for (const unsigned k : queues) static_cast<void>(storage.allocate(k));
}

void count(TransferCounters& counters, TransferPath path, std::uint64_t calls, std::uint64_t bytes) {
    switch (path) {
        case TransferPath::None: return;
        case TransferPath::Whole: TransferCounters::add(counters.whole); break;
        case TransferPath::Rect: TransferCounters::add(counters.rects); break;
        case TransferPath::Rows: TransferCounters::add(counters.rows); break;
        case TransferPath::ThroughHost: TransferCounters::add(counters.hops); break;
    }
    TransferCounters::add(counters.driver_calls, calls);
    TransferCounters::add(counters.bytes, bytes);
}

void count(ContextCore& core, unsigned queue, const Rows& rows) {
    count(core.transfers(), path_of(rows), calls_of(core.queue(queue), rows),
          static_cast<std::uint64_t>(rows.bytes()));
}

backends::Point submit_copy(ContextCore& core, unsigned queue, backends::Memory& to,
                            const backends::Memory& from, const Rows& rows) {
    count(core, queue, rows);
    return submit_rects(
        rows, [&](const backends::RectMove& move) { return core.queue(queue).copy(to, from, move); });
}

}  // namespace volley::runtime
