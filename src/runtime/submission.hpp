// The protocol of every command: from the bytes that it uses to its point on a queue's timeline.
//
// Launches, transfers, copies, fills and graphs all take these steps, in this order:
//  1. Check the arguments, and allocate the memory of every replica that the command uses
//     (Storage::check_not_mapped, Storage::allocate). Allocation may wait for work, so no lock is held yet.
//  2. Construct a Submission: it locks, and orders the queue after conflicting commands.
//  3. submit() passes the command to the queue and records its point in each replica.
//  4. The destructor releases the locks. Nothing may wait for work before that.
#pragma once

#include "backends/api/queue.hpp"
#include "runtime/command_times.hpp"
#include "runtime/context_core.hpp"
#include "runtime/hazards.hpp"
#include "runtime/storage.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace volley::runtime {

/// What a command does with the bytes of a footprint. Held: it has the replica among its arguments and
/// accesses none of its bytes.
enum class Usage : std::uint8_t { Held, Read, Written };

/// Bytes of one replica that a command uses.
struct Footprint {
    Storage* storage = nullptr;
    Replica* replica = nullptr;
    ByteRange bytes;
    Usage usage = Usage::Held;
    [[nodiscard]] bool writes() const noexcept { return usage == Usage::Written; }
};

/// Returns the footprint of a storage's replica on a queue.
[[nodiscard]] inline Footprint footprint(Storage& storage, unsigned queue, const ByteRange& bytes,
                                         Usage usage) {
    return {&storage, &storage.replica(queue), bytes, usage};
}

struct SubmissionOptions {
    std::optional<unsigned> with_queue = {};  // lock this queue too: the command uses its replica
    bool order_locked = false;                // the caller holds QueueOrder::lock()
};

/// One command on one queue, which may be submitted in several parts. Allocates nothing; takes a lock only if
/// a replica serves several queues or the queue's commands may overlap.
///
///     Submission submission(core, queue, uses, [&] { return CommandLabel{.kind = CommandKind::Fill}; });
///     submission.submit([&] { return core.queue(queue).fill(...); });
///     submission.add_to(event, "fill");
class Submission {
public:
    /// `uses` must outlive the submission. `label()` returns a CommandLabel or a BatchPlace, and is called
    /// only if the command is timed.
    template <class Label>
    Submission(ContextCore& core, unsigned queue, std::span<const Footprint> uses, Label&& label,
               const SubmissionOptions& options = {})
        : core_(core),
          queue_(queue),
          uses_(uses),
          order_lock_(options.order_locked ? std::unique_lock<std::mutex>() : lock_order(core, uses)),
          timed_(core, queue, std::forward<Label>(label)) {
        const unsigned other = options.with_queue.value_or(queue);
        first_lock_ = core.order().lock(std::min(queue, other));
        if (other != queue) second_lock_ = core.order().lock(std::max(queue, other));
        after_ = core.order().ordered(queue);
        for (const Footprint& use : uses) {
            if (use.usage == Usage::Held) continue;
            after_ = std::max(after_, use.storage->order(*use.replica, queue, use.bytes, use.writes()));
        }
    }
    Submission(const Submission&) = delete;
    Submission& operator=(const Submission&) = delete;

    /// Returns the context's order lock if one of the replicas serves several queues, else an empty lock.
    [[nodiscard]] static std::unique_lock<std::mutex> lock_order(ContextCore& core,
                                                                 std::span<const Footprint> uses) {
        for (const Footprint& use : uses) {
            if (use.storage->shared()) return core.order().lock();
        }
        return {};
    }

    /// Returns the last command of this queue that the command must follow, if the queue's commands may
    /// overlap.
    [[nodiscard]] backends::Point after() const noexcept { return after_; }

    /// Calls f, which submits to the queue and returns the point, and records that point in every replica. If
    /// f throws after it has submitted a part of the command, the part's point is recorded.
    template <class F>
    backends::Point submit(F&& f) {
        const backends::Queue& queue = core_.queue(queue_);
        const backends::Point before = queue.last();
        try {
            record(timed_.submit(std::forward<F>(f)));
        } catch (...) {
            if (queue.last() != before) record(queue.last());
            throw;
        }
        return point_;
    }
    /// Returns the point of the last part that was submitted; 0 before the first.
    [[nodiscard]] backends::Point point() const noexcept { return point_; }
    /// Adds the command to an event: its point, what it is called, and its time if it has one.
    void add_to(Event& event, std::string_view work, const CachedKernel* kernel = nullptr) const {
        core_.add_part(event, queue_, point_, work, kernel);
        timed_.add_to(event);
    }
    /// Releases the locks, so that the caller may wait.
    void unlock() {
        second_lock_ = {};
        first_lock_ = {};
        order_lock_ = {};
    }

private:
    void record(backends::Point point) {
        point_ = point;
        for (const Footprint& use : uses_) {
            switch (use.usage) {
                case Usage::Held: use.replica->held(queue_, point); break;
                case Usage::Read: use.replica->used(queue_, point, use.bytes); break;
                case Usage::Written: use.replica->wrote(queue_, point, use.bytes); break;
            }
        }
    }

    ContextCore& core_;
    unsigned queue_;
    std::span<const Footprint> uses_;
    std::unique_lock<std::mutex> order_lock_;
    std::unique_lock<std::mutex> first_lock_;
    std::unique_lock<std::mutex> second_lock_;
    TimedCommand timed_;
    backends::Point after_ = 0;
    backends::Point point_ = 0;
};

}  // namespace volley::runtime
