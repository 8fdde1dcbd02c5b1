// The memory behind buffers: replicas, made when they are first needed. Each replica knows the points of its
// last uses on every queue, so that a reader waits for writers alone, and memory is freed only when nobody
// works on it any more.
//
// A command on a queue goes through these steps, in this order:
//     storage.check_not_mapped(queue);
//     backend::Memory& memory = storage.allocate(queue);
//     const auto order = storage.lock_order();    // empty unless queues share a replica
//     storage.order(queue, writes);
//     const backend::Point point = core.queue(queue).fill(memory, ...);
//     storage.replica(queue).wrote(queue, point);  // or used()
#pragma once

#include "backends/api/memory.hpp"
#include "backends/api/timeline.hpp"
#include "runtime/block.hpp"

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
    backend::Point point = 0;
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

/// One copy of a storage's bytes. Its memory is made once; its points only grow. Points are raised by any
/// thread.
class Replica {
public:
    /// nullptr until it is allocated, and when it was destroyed.
    [[nodiscard]] backend::Memory* memory() const noexcept { return memory_.load(std::memory_order_acquire); }
    /// Whether the host or a kernel has ever written to it.
    [[nodiscard]] bool written() const noexcept { return written_.load(std::memory_order_acquire); }
    /// The queue on which its commands run when none is named.
    [[nodiscard]] unsigned home() const noexcept { return home_; }

    /// A command of that queue, of any device, touches it until then. A point of 0 is the host itself, which
    /// is done.
    void used(unsigned queue, backend::Point point) noexcept {
        raise(uses_[queue], point);
        if (queue != home_) visited();
    }
    void wrote(unsigned queue, backend::Point point) noexcept {
        raise(uses_[queue], point);
        raise(writes_[queue], point);
        if (queue != home_) visited();
        if (!written_.load(std::memory_order_relaxed)) written_.store(true, std::memory_order_release);
    }
    [[nodiscard]] backend::Point last_use(unsigned queue) const noexcept {
        return uses_[queue].load(std::memory_order_acquire);
    }
    [[nodiscard]] backend::Point last_write(unsigned queue) const noexcept {
        return writes_[queue].load(std::memory_order_acquire);
    }

    // Guards of the host's: while there is one, commands that would use the replica are refused.
    void map() noexcept { guards_.fetch_add(1, std::memory_order_acq_rel); }
    void unmap() noexcept { guards_.fetch_sub(1, std::memory_order_acq_rel); }
    [[nodiscard]] bool mapped() const noexcept { return guards_.load(std::memory_order_relaxed) != 0; }

private:
    friend class Storage;
    using Points = std::atomic<backend::Point>*;  // by queue

    // Two threads may bring their points in either order; the higher one stays.
    static void raise(std::atomic<backend::Point>& slot, backend::Point point) noexcept {
        backend::Point now = slot.load(std::memory_order_relaxed);
        while (now < point && !slot.compare_exchange_weak(now, point, std::memory_order_acq_rel)) {
        }
    }
    void visited() noexcept {
        if (!visited_.load(std::memory_order_relaxed)) visited_.store(true, std::memory_order_release);
    }

    std::atomic<backend::Memory*> memory_{nullptr};
    std::atomic<bool> written_{false};
    std::atomic<bool> visited_{false};  // some queue other than the home has used it
    std::atomic<unsigned> guards_{0};
    unsigned home_ = 0;
    Points uses_ = nullptr;
    Points writes_ = nullptr;
    std::unique_ptr<Block> block_;  // guarded by the storage
};

struct StorageOptions {
    Placement placement = {};
    bool zeroed = false;    // memory is filled with zeros when it is made
    std::string name = {};  // for messages, such as "buffer 'weights'"; empty: "storage" and its id
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
                                                        std::unique_ptr<backend::Memory> memory,
                                                        std::shared_ptr<const void> keep_alive,
                                                        StorageOptions options = {});

    [[nodiscard]] StorageId id() const noexcept { return id_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] ContextCore& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<ContextCore>& shared_core() const noexcept { return core_; }
    [[nodiscard]] std::string name() const;
    [[nodiscard]] bool zeroed() const noexcept { return options_.zeroed; }

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
    [[nodiscard]] backend::Memory& allocate(unsigned queue) {
        if (Replica* replica = by_queue_[queue]) {
            if (backend::Memory* memory = replica->memory()) return *memory;
        }
        return allocate_slow(queue);
    }
    /// Throws ArgumentError while the host has the queue's replica mapped.
    void check_not_mapped(unsigned queue) const {
        if (const Replica* replica = by_queue_[queue]; replica != nullptr && replica->mapped()) fail_mapped();
    }
    /// Before a command on `queue` that uses its replica: has the queue wait, on the device, for what other
    /// queues have written to it, and for all their uses if this one writes. Two loads where no other queue
    /// has ever used it.
    void order(unsigned queue, bool writes) { order(replica(queue), queue, writes); }
    /// The same for a command that uses another queue's replica.
    void order(Replica& replica, unsigned queue, bool writes) {
        if (queue != replica.home_ || replica.visited_.load(std::memory_order_acquire))
            order_slow(replica, queue, writes);
    }
    /// Held from order() to used() or wrote(), so that two threads on two queues cannot pass each other.
    /// Empty unless shared(). One lock for the whole context: for several storages take one.
    [[nodiscard]] std::unique_lock<std::mutex> lock_order();

    // Ending it
    /// Frees the memory as soon as the work that uses it is done. Every later use is an error. Replicas that
    /// are mapped stay until the storage ends. Idempotent. Not while another thread gives commands with it.
    void destroy() noexcept;
    [[nodiscard]] bool destroyed() const noexcept { return destroyed_.load(std::memory_order_acquire); }
    /// Throws ArgumentError when it was destroyed, WrongContext when its context is gone.
    void check_usable() const;

private:
    friend class ContextCore;
    Storage(std::shared_ptr<ContextCore> core, std::uint64_t bytes, StorageOptions options,
            QueueRange adopted);  // an empty range: as the options say
    [[nodiscard]] QueueRange placed() const;
    [[noreturn]] void fail_mapped() const;
    backend::Memory& allocate_slow(unsigned queue);
    void order_slow(Replica& replica, unsigned queue, bool writes);
    void release(bool with_mapped) noexcept;
    /// Its context ends: hands the memory over, whose uses are all over.
    void let_go(DeadBlocks& to) noexcept;

    std::shared_ptr<ContextCore> core_;
    StorageId id_;
    std::uint64_t bytes_;
    StorageOptions options_;
    QueueRange queues_;
    bool per_device_ = false;
    bool shared_ = false;
    std::atomic<bool> destroyed_{false};
    std::unique_ptr<std::atomic<backend::Point>[]> points_;  // of all replicas
    std::vector<Replica> replicas_;
    std::vector<Replica*> by_queue_;
    std::mutex mutex_;           // making and freeing memory
    Storage* before_ = nullptr;  // the context's list, guarded by it
    Storage* after_ = nullptr;
};

}  // namespace volley::runtime
