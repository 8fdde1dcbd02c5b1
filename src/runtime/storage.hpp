// The memory of buffers: replicas, allocated when they are first needed. Commands use them through a
// Submission (submission.hpp).
#pragma once

#include "backends/api/memory.hpp"
#include "backends/api/timeline.hpp"
#include "runtime/block.hpp"
#include "runtime/member_list.hpp"
#include "runtime/queue_point.hpp"
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

struct StorageOptions {
    Placement placement = {};
    bool zeroed = false;     // fill the memory with zeros when it is allocated
    std::string name = {};   // for messages, such as "buffer 'weights'"; empty: "storage" and its id
    bool temporary = false;  // belongs to a recording: never has memory of its own
};

class Storage {
public:
    /// Allocates nothing yet. Throws WrongContext if the placement's queue belongs to another context.
    Storage(std::shared_ptr<ContextCore> core, std::uint64_t bytes, StorageOptions options = {});
    /// Returns the memory to the allocator when the work that uses it has completed; does not wait.
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    /// Wraps memory that was allocated elsewhere and counts as written: one replica, shared by the queues of
    /// that queue's device. `keep_alive` is released after the memory's last use has completed and the memory
    /// is destroyed. Ignores the placement of the options.
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
    /// Returns the offset of its first byte from a multiple of 64: zero except for memory that was allocated
    /// elsewhere.
    [[nodiscard]] std::size_t misalignment() const noexcept { return misalignment_; }

    // Replicas
    [[nodiscard]] unsigned replica_count() const noexcept { return static_cast<unsigned>(replicas_.size()); }
    /// Returns the queue on which replica r's commands run if none is named.
    [[nodiscard]] unsigned home(unsigned r) const noexcept { return replicas_[r].home_; }
    /// Returns the queues that have a replica.
    [[nodiscard]] QueueRange queues() const noexcept { return queues_; }
    /// Returns whether there is one replica per device instead of one per queue, even if the device has one
    /// queue.
    [[nodiscard]] bool per_device() const noexcept { return per_device_; }
    /// Returns whether some replica serves several queues.
    [[nodiscard]] bool shared() const noexcept { return shared_; }
    /// Returns the replica that the queue uses; nullptr if it has none.
    [[nodiscard]] Replica* find(unsigned queue) noexcept {
        return queues_.contains(queue) ? by_queue_[queue] : nullptr;
    }
    /// The same for a queue that has one.
    [[nodiscard]] Replica& replica(unsigned queue) noexcept { return *by_queue_[queue]; }
    /// Returns a placement with these queues.
    [[nodiscard]] Placement placement() const;
    /// Its queues, for messages: "queue 1 (cpu:0)", "every queue".
    [[nodiscard]] std::string place() const;

    // Use
    /// Returns the memory of the queue's replica, allocated now if it was not; otherwise one load. Throws
    /// MemoryError (a later call may succeed), ArgumentError if the storage was destroyed or has no replica
    /// there. May wait for work, so the caller holds no lock.
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
    /// Makes `queue` wait, on the device, for the commands of other queues that conflict with a use of these
    /// bytes. Returns the last conflicting command of the queue itself (0: none) if the queue's commands may
    /// overlap. Costs a load or two if only one queue uses the replica. Called by Submission.
    backends::Point order(Replica& replica, unsigned queue, const ByteRange& bytes, bool writes) {
        if (queue == replica.home() && !replica.visited() && !overlapping_[queue]) return 0;
        return order_slow(replica, queue, bytes, writes);
    }
    /// Blocks until the commands that conflict with the host reading or writing these bytes have completed.
    /// Rethrows their errors.
    void wait_for_uses(unsigned queue, const ByteRange& bytes, bool writes);

    // Destruction
    /// Frees the memory as soon as the work that uses it has completed. Every later use is an error. Replicas
    /// that are mapped or lent stay until the storage is destroyed. Idempotent. Must not race with another
    /// thread that submits commands with it.
    void destroy() noexcept;
    [[nodiscard]] bool destroyed() const noexcept { return destroyed_.load(std::memory_order_acquire); }
    /// A graph pins it: destroy() then frees the memory when the last graph has unpinned it.
    void pin() noexcept { pins_.fetch_add(1, std::memory_order_acq_rel); }
    void unpin() noexcept;
    /// Throws ArgumentError if it was destroyed, WrongContext if its context is closed.
    void check_usable() const;

private:
    friend class ContextCore;
    friend class MemberList<Storage>;
    Storage(std::shared_ptr<ContextCore> core, std::uint64_t bytes, StorageOptions options,
            QueueRange adopted);  // an empty range: use the placement
    [[nodiscard]] QueueRange placed() const;
    [[noreturn]] void fail_mapped() const;
    backends::Memory& allocate_slow(unsigned queue);
    backends::Point order_slow(Replica& replica, unsigned queue, const ByteRange& bytes, bool writes);
    void release(bool with_held) noexcept;
    /// Hands over the memory when the context closes and all uses have completed. Keeps memory that is mapped
    /// or lent.
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
    std::mutex mutex_;           // allocation and release
    Storage* before_ = nullptr;  // the context's list, guarded by it
    Storage* after_ = nullptr;
};

}  // namespace volley::runtime
