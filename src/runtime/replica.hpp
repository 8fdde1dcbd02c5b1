// One copy of the bytes of a storage: its memory, and the commands that use each part of it.
#pragma once

#include "backends/api/memory.hpp"
#include "backends/api/timeline.hpp"
#include "core/spin_lock.hpp"
#include "runtime/block.hpp"
#include "runtime/hazards.hpp"

#include <atomic>
#include <memory>
#include <mutex>

namespace volley::runtime {

class ContextCore;

/// Its memory is allocated once; its points only increase. Its AccessMap has one lane per queue of the
/// context. Any thread may record uses; see storage.hpp for the order of calls.
class Replica {
public:
    /// Returns nullptr before allocation and after destroy().
    [[nodiscard]] backends::Memory* memory() const noexcept {
        return memory_.load(std::memory_order_acquire);
    }
    /// Returns whether the host or a kernel has ever written to it.
    [[nodiscard]] bool written() const noexcept { return written_.load(std::memory_order_acquire); }
    /// Returns the queue on which its commands run by default.
    [[nodiscard]] unsigned home() const noexcept { return home_; }

    // Uses
    /// Records that a command of the queue, on any device, reads these bytes until the point.
    void used(unsigned queue, backends::Point point, const ByteRange& bytes) {
        add(queue, point, bytes, false);
    }
    void wrote(unsigned queue, backends::Point point, const ByteRange& bytes) {
        add(queue, point, bytes, true);
        wrote();
    }
    /// Marks it as written: the host has waited and writes to it directly, or a write was empty.
    void wrote() noexcept {
        if (!written_.load(std::memory_order_relaxed)) written_.store(true, std::memory_order_release);
    }
    /// Records that a command of the queue has it as an argument until the point, without accessing its
    /// bytes.
    void held(unsigned queue, backends::Point point) noexcept { raise(uses_[queue], point); }
    /// Removes all uses of these bytes, which the host has waited for.
    void settled(const ByteRange& bytes);

    // Dependencies
    /// Returns the last command of the queue that must complete before these bytes are read, or written if
    /// `writes`; 0: none.
    [[nodiscard]] backends::Point last_conflict(unsigned queue, const ByteRange& bytes, bool writes);
    /// Calls f(Use) for each use that a command must follow.
    template <class F>
    void conflicts(const ByteRange& bytes, bool writes, F&& f) {
        const std::scoped_lock lock(lock_);
        map_.conflicts(bytes, writes, f);
    }
    /// Returns whether a queue other than home() has ever used it. If not, the order of that queue suffices.
    [[nodiscard]] bool visited() const noexcept { return visited_.load(std::memory_order_acquire); }
    /// Returns the last command of the queue that uses it in any way, including held().
    [[nodiscard]] backends::Point last_use(unsigned queue) const noexcept {
        return uses_[queue].load(std::memory_order_acquire);
    }

    // Host guards: while one exists, commands that would use the replica are rejected.
    void map() noexcept { guards_.fetch_add(1, std::memory_order_acq_rel); }
    void unmap() noexcept { guards_.fetch_sub(1, std::memory_order_acq_rel); }
    [[nodiscard]] bool mapped() const noexcept { return guards_.load(std::memory_order_relaxed) != 0; }
    // Exported pointers: these do not block commands.
    void lend() noexcept { lent_.fetch_add(1, std::memory_order_acq_rel); }
    void take_back() noexcept { lent_.fetch_sub(1, std::memory_order_acq_rel); }
    /// Returns whether the host has a guard or an exported pointer. While it does, the memory outlives
    /// destroy() and the context.
    [[nodiscard]] bool held_by_host() const noexcept {
        return mapped() || lent_.load(std::memory_order_acquire) != 0;
    }

private:
    friend class Storage;
    using Points = std::atomic<backends::Point>*;  // indexed by queue

    // Threads may report their points in any order; the highest is kept.
    static void raise(std::atomic<backends::Point>& slot, backends::Point point) noexcept {
        backends::Point now = slot.load(std::memory_order_relaxed);
        while (now < point && !slot.compare_exchange_weak(now, point, std::memory_order_acq_rel)) {
        }
    }
    void add(unsigned queue, backends::Point point, const ByteRange& bytes, bool writes);
    void forget();

    std::atomic<backends::Memory*> memory_{nullptr};
    std::atomic<bool> written_{false};
    std::atomic<bool> visited_{false};
    std::atomic<unsigned> guards_{0};
    std::atomic<unsigned> lent_{0};
    unsigned home_ = 0;
    const ContextCore* core_ = nullptr;
    Points uses_ = nullptr;
    // The last uses that completed and were removed from the map; kept because they may have failed.
    Points forgotten_ = nullptr;
    SpinLock lock_;  // guards map_ and many_
    AccessMap map_;
    std::size_t many_ = 64;         // above this number of pieces, completed uses are removed
    std::unique_ptr<Block> block_;  // guarded by the storage
};

}  // namespace volley::runtime
