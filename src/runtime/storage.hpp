// The memory behind buffers: replicas, made when they are first needed. Each replica knows which of its bytes
// are used until when, so that a reader waits for the writers of its bytes alone, and memory is freed only
// when nobody works on it any more.
//
// A command on a queue goes through these steps, in this order:
//     storage.check_not_mapped(queue);
//     backends::Memory& memory = storage.allocate(queue);
//     const auto order = storage.lock_order();    // empty unless queues share a replica
//     storage.order(queue, bytes, writes);
//     const backends::Point point = core.queue(queue).fill(memory, ...);
//     storage.replica(queue).wrote(queue, point, bytes);  // or used()
#pragma once

#include "backends/api/memory.hpp"
#include "backends/api/timeline.hpp"
#include "runtime/block.hpp"
#include "runtime/member_list.hpp"
#include "runtime/replica.hpp"

#include <volley/id.hpp>
#include <volley/placement.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace volley {
using StorageId = Id<struct StorageTag>;
}

namespace volley::runtime {

class ContextCore;

/// A place on a queue's timeline.
struct QueuePoint {
    unsigned queue = 0;
    backends::Point point = 0;
};

/// Queues that follow each other: begin to end - 1.
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

struct StorageOptions {
    Placement placement = {};
    bool zeroed = false;     // memory is filled with zeros when it is made
    std::string name = {};   // for messages, such as "buffer 'weights'"; empty: "storage" and its id
    bool temporary = false;  // of a recording: never has memory of its own
};

class Storage {
public:
    /// Nothing is allocated yet. Throws WrongContext when the placement's queue is of another context.
    Storage(std::shared_ptr<ContextCore> core, std::uint64_t bytes, StorageOptions options = {});
    /// Gives the memory back when the work that uses it is done; does not wait.
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    /// Memory that was made elsewhere, holding something already: one replica, which the queues of that
    /// queue's device share. `keep_alive` is let go when the memory's last use has passed and the memory is
    /// gone. The placement of the options is not looked at.
    [[nodiscard]] static std::shared_ptr<Storage> adopt(std::shared_ptr<ContextCore> core, unsigned queue,
                                                        std::unique_ptr<backends::Memory> memory,
                                                        std::shared_ptr<const void> keep_alive,
                                                        StorageOptions options = {});

    [[nodiscard]] StorageId id() const noexcept { return id_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] ContextCore& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<ContextCore>& shared_core() const noexcept { return core_; }
    [[nodiscard]] std::string name() const;
    [[nodiscard]] bool zeroed() const noexcept { return options_.zeroed; }
    [[nodiscard]] bool temporary() const noexcept { return options_.temporary; }
    /// How many bytes its first one lies behind a multiple of 64: none, but in memory that was made
    /// elsewhere.
    [[nodiscard]] std::size_t misalignment() const noexcept { return misalignment_; }

    // Replicas
    [[nodiscard]] unsigned replica_count() const noexcept { return static_cast<unsigned>(replicas_.size()); }
    /// The queue on which replica r's commands run when none is named.
    [[nodiscard]] unsigned home(unsigned r) const noexcept { return replicas_[r].home_; }
    /// The queues that have a replica.
    [[nodiscard]] QueueRange queues() const noexcept { return queues_; }
    /// Whether there is one replica a device (and not one a queue), even if its device has but one queue.
    [[nodiscard]] bool per_device() const noexcept { return per_device_; }
    /// Whether some replica serves several queues.
    [[nodiscard]] bool shared() const noexcept { return shared_; }
    /// The replica that the queue works on; nullptr where it has none.
    [[nodiscard]] Replica* find(unsigned queue) noexcept {
        return queues_.contains(queue) ? by_queue_[queue] : nullptr;
    }
    /// The same, where it is known that there is one.
    [[nodiscard]] Replica& replica(unsigned queue) noexcept { return *by_queue_[queue]; }
    /// Where it lives, for messages: "queue 1 (cpu:0)", "every queue".
    [[nodiscard]] std::string place() const;

    // Using them
    /// Memory of the queue's replica, made now if it was not. One load when it was. Throws MemoryError (the
    /// replica can be tried again), ArgumentError when the storage was destroyed or has no replica there. Not
    /// with lock_order() held: it may have to wait for work.
    [[nodiscard]] backends::Memory& allocate(unsigned queue) {
        if (Replica* replica = by_queue_[queue]) {
            if (backends::Memory* memory = replica->memory()) return *memory;
        }
        return allocate_slow(queue);
    }
    /// Throws ArgumentError while the host has the queue's replica mapped.
    void check_not_mapped(unsigned queue) const {
        if (const Replica* replica = by_queue_[queue]; replica != nullptr && replica->mapped()) fail_mapped();
    }
    /// Before a command on `queue` that uses bytes of its replica: has the queue wait, on the device, for
    /// what other queues do that it must follow. Returns the last command of the queue itself that it must
    /// follow (0: none), where the queue's commands may overlap; else that is not asked. A load or two where
    /// neither matters.
    backends::Point order(unsigned queue, const Range& bytes, bool writes) {
        return order(replica(queue), queue, bytes, writes);
    }
    /// The same for a command that uses another queue's replica.
    backends::Point order(Replica& replica, unsigned queue, const Range& bytes, bool writes) {
        if (queue == replica.home() && !replica.visited() && !overlapping_[queue]) return 0;
        return order_slow(replica, queue, bytes, writes);
    }
    /// The host waits for the commands that it must follow to read bytes of the queue's replica, or to write
    /// them. Rethrows their errors.
    void wait_for_uses(unsigned queue, const Range& bytes, bool writes);
    /// Held from order() to used() or wrote(), so that two threads on two queues cannot pass each other.
    /// Empty unless shared(). One lock for the whole context: for several storages take one.
    [[nodiscard]] std::unique_lock<std::mutex> lock_order();

    // Ending it
    /// Frees the memory as soon as the work that uses it is done. Every later use is an error. Replicas that
    /// are mapped or lent stay until the storage ends. Idempotent. Not while another thread gives commands
    /// with it.
    void destroy() noexcept;
    [[nodiscard]] bool destroyed() const noexcept { return destroyed_.load(std::memory_order_acquire); }
    /// A graph holds it: destroy() then frees the memory when the last one has let go.
    void pin() noexcept { pins_.fetch_add(1, std::memory_order_acq_rel); }
    void unpin() noexcept;
    /// Throws ArgumentError when it was destroyed, WrongContext when its context is gone.
    void check_usable() const;

private:
    friend class ContextCore;
    friend class MemberList<Storage>;
    Storage(std::shared_ptr<ContextCore> core, std::uint64_t bytes, StorageOptions options,
            QueueRange adopted);  // an empty range: as the options say
    [[nodiscard]] QueueRange placed() const;
    [[noreturn]] void fail_mapped() const;
    backends::Memory& allocate_slow(unsigned queue);
    backends::Point order_slow(Replica& replica, unsigned queue, const Range& bytes, bool writes);
    void release(bool with_held) noexcept;
    /// Its context ends: hands the memory over, whose uses are all over. What is mapped or lent stays.
    void let_go(DeadBlocks& to) noexcept;

    std::shared_ptr<ContextCore> core_;
    StorageId id_;
    std::uint64_t bytes_;
    StorageOptions options_;
    QueueRange queues_;
    bool per_device_ = false;
    bool shared_ = false;
    std::size_t misalignment_ = 0;
    std::atomic<bool> destroyed_{false};
    std::atomic<unsigned> pins_{0};
    std::unique_ptr<std::atomic<backends::Point>[]> points_;  // of all replicas
    std::vector<Replica> replicas_;
    std::vector<Replica*> by_queue_;
    const bool* overlapping_;    // by queue: the context's
    std::mutex mutex_;           // making and freeing memory
    Storage* before_ = nullptr;  // the context's list, guarded by it
    Storage* after_ = nullptr;
};

}  // namespace volley::runtime
