// The memory behind buffers: one replica for each queue of the context, made when it is first needed. Each
// replica knows the points of its last uses on every queue, so that a reader waits for writers alone, and
// memory is freed only when nobody works on it any more.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/api/timeline.hpp"

#include <volley/id.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
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

/// One copy of a storage's bytes. Its memory is made once; its points only grow. Points are raised by any
/// thread.
class Replica {
public:
    explicit Replica(unsigned queues) : uses_(queues), writes_(queues) {}

    /// nullptr until it is allocated.
    [[nodiscard]] backend::Memory* memory() const noexcept { return memory_.load(std::memory_order_acquire); }
    /// Whether the host or a kernel has ever written to it.
    [[nodiscard]] bool written() const noexcept { return written_.load(std::memory_order_acquire); }

    void used(unsigned queue, backend::Point point) noexcept { raise(uses_[queue], point); }
    void wrote(unsigned queue, backend::Point point) noexcept {
        raise(uses_[queue], point);
        raise(writes_[queue], point);
        if (!written_.load(std::memory_order_relaxed)) written_.store(true, std::memory_order_release);
    }
    [[nodiscard]] backend::Point last_use(unsigned queue) const noexcept {
        return uses_[queue].load(std::memory_order_acquire);
    }
    [[nodiscard]] backend::Point last_write(unsigned queue) const noexcept {
        return writes_[queue].load(std::memory_order_acquire);
    }

private:
    friend class Storage;
    friend class ContextCore;  // closing frees what is left
    // Two threads may bring their points in either order; the higher one stays.
    static void raise(std::atomic<backend::Point>& slot, backend::Point point) noexcept {
        backend::Point now = slot.load(std::memory_order_relaxed);
        while (now < point && !slot.compare_exchange_weak(now, point, std::memory_order_acq_rel)) {
        }
    }

    std::atomic<backend::Memory*> memory_{nullptr};
    std::atomic<bool> written_{false};
    std::vector<std::atomic<backend::Point>> uses_;    // by queue
    std::vector<std::atomic<backend::Point>> writes_;  // by queue
    std::unique_ptr<backend::Memory> owned_;
};

class Storage {
public:
    Storage(std::shared_ptr<ContextCore> core, std::uint64_t bytes);
    /// Gives the memory back when the work that uses it is done; does not wait.
    ~Storage();
    Storage(const Storage&) = delete;
    Storage& operator=(const Storage&) = delete;

    [[nodiscard]] StorageId id() const noexcept { return id_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] ContextCore& core() const noexcept { return *core_; }
    [[nodiscard]] const std::shared_ptr<ContextCore>& shared_core() const noexcept { return core_; }

    /// The replica that the queue works on.
    [[nodiscard]] Replica& replica(unsigned queue) noexcept { return *replicas_[queue]; }
    /// Its memory, made now if it was not. One load when it was. Throws MemoryError; the replica can be tried
    /// again.
    [[nodiscard]] backend::Memory& allocate(unsigned queue) {
        backend::Memory* memory = replicas_[queue]->memory();
        return memory != nullptr ? *memory : allocate_slow(queue);
    }

private:
    friend class ContextCore;
    backend::Memory& allocate_slow(unsigned queue);
    void release() noexcept;

    std::shared_ptr<ContextCore> core_;
    StorageId id_;
    std::uint64_t bytes_;
    std::vector<std::unique_ptr<Replica>> replicas_;  // by queue
    std::mutex mutex_;                                // making memory
    Storage* before_ = nullptr;                       // the context's list, guarded by it
    Storage* after_ = nullptr;
};

}  // namespace volley::runtime
