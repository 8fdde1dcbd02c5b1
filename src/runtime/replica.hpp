// One copy of a storage's bytes: its memory, and who uses which part of it until when.
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

/// Its memory is made once; its points only grow. Lanes of its uses are the queues of the context. Commands
/// are told to it by any thread; see storage.hpp for the order of calls.
class Replica {
public:
    /// nullptr until it is allocated, and when it was destroyed.
    [[nodiscard]] backends::Memory* memory() const noexcept {
        return memory_.load(std::memory_order_acquire);
    }
    /// Whether the host or a kernel has ever written to it.
    [[nodiscard]] bool written() const noexcept { return written_.load(std::memory_order_acquire); }
    /// The queue on which its commands run when none is named.
    [[nodiscard]] unsigned home() const noexcept { return home_; }

    // Uses
    /// A command of that queue, of any device, reads these bytes until then.
    void used(unsigned queue, backends::Point point, const Range& bytes) { add(queue, point, bytes, false); }
    void wrote(unsigned queue, backends::Point point, const Range& bytes) {
        add(queue, point, bytes, true);
        wrote();
    }
    /// It holds something: the host, which has waited, writes to it, or nothing was to be written.
    void wrote() noexcept {
        if (!written_.load(std::memory_order_relaxed)) written_.store(true, std::memory_order_release);
    }
    /// A command of that queue has it among its arguments until then, and leaves the bytes alone.
    void held(unsigned queue, backends::Point point) noexcept { raise(uses_[queue], point); }
    /// The host has waited for all uses of these bytes.
    void settled(const Range& bytes);

    // Who must be followed
    /// The last command of that queue that must be over before these bytes are read, or written; 0: none.
    [[nodiscard]] backends::Point last_conflict(unsigned queue, const Range& bytes, bool writes);
    /// Calls f(Use) for everything that a command must follow.
    template <class F>
    void conflicts(const Range& bytes, bool writes, F&& f) {
        const std::scoped_lock lock(lock_);
        map_.conflicts(bytes, writes, f);
    }
    /// Whether some queue other than the home has ever used it: else the queue's own order is all there is.
    [[nodiscard]] bool visited() const noexcept { return visited_.load(std::memory_order_acquire); }
    /// The last command of that queue that has anything to do with it.
    [[nodiscard]] backends::Point last_use(unsigned queue) const noexcept {
        return uses_[queue].load(std::memory_order_acquire);
    }

    // Guards of the host's: while there is one, commands that would use the replica are refused.
    void map() noexcept { guards_.fetch_add(1, std::memory_order_acq_rel); }
    void unmap() noexcept { guards_.fetch_sub(1, std::memory_order_acq_rel); }
    [[nodiscard]] bool mapped() const noexcept { return guards_.load(std::memory_order_relaxed) != 0; }
    // Pointers that were given away. Commands go on.
    void lend() noexcept { lent_.fetch_add(1, std::memory_order_acq_rel); }
    void take_back() noexcept { lent_.fetch_sub(1, std::memory_order_acq_rel); }
    /// While the host has it either way, its memory outlives destroy() and the context.
    [[nodiscard]] bool held_by_host() const noexcept {
        return mapped() || lent_.load(std::memory_order_acquire) != 0;
    }

private:
    friend class Storage;
    using Points = std::atomic<backends::Point>*;  // by queue

    // Two threads may bring their points in either order; the higher one stays.
    static void raise(std::atomic<backends::Point>& slot, backends::Point point) noexcept {
        backends::Point now = slot.load(std::memory_order_relaxed);
        while (now < point && !slot.compare_exchange_weak(now, point, std::memory_order_acq_rel)) {
        }
    }
    void add(unsigned queue, backends::Point point, const Range& bytes, bool writes);
    void forget();

    std::atomic<backends::Memory*> memory_{nullptr};
    std::atomic<bool> written_{false};
    std::atomic<bool> visited_{false};
    std::atomic<unsigned> guards_{0};
    std::atomic<unsigned> lent_{0};
    unsigned home_ = 0;
    const ContextCore* core_ = nullptr;
    Points uses_ = nullptr;
    Points forgotten_ =
        nullptr;     // writes that have passed and are not in the map any more: they may have failed
    SpinLock lock_;  // map_, many_
    AccessMap map_;
    std::size_t many_ = 64;         // pieces, from which on those that have passed are looked for
    std::unique_ptr<Block> block_;  // guarded by the storage
};

}  // namespace volley::runtime
