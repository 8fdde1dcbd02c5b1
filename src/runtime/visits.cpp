// The slots of all threads. They are never freed, only used again: a closing thread may look at them at any
// time.
#include "runtime/visits.hpp"

#include "runtime/process_end.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

#if __has_include(<linux/membarrier.h>)
#include <linux/membarrier.h>
#endif

namespace volley::runtime {
namespace {

#if defined(SYS_membarrier) && __has_include(<linux/membarrier.h>)
bool register_barrier() noexcept {
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}
bool barrier_on_all_threads() noexcept {
    return ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}
#else
bool register_barrier() noexcept { return false; }
bool barrier_on_all_threads() noexcept { return false; }
#endif

class Slots {
public:
    /// Never destroyed, so that threads may end after static objects were destroyed.
    static Slots& instance() {
        static Slots& slots = *new Slots;
        return slots;
    }
    VisitSlot* take() {
        const std::scoped_lock lock(mutex_);
        if (!free_.empty()) {
            VisitSlot* const slot = free_.back();
            free_.pop_back();
            return slot;
        }
        all_.reserve(all_.size() + 1);
        free_.reserve(all_.size() + 1);  // so that give_back() does not allocate
        all_.push_back(new VisitSlot);
        all_.back()->ordered = ordered_;
        return all_.back();
    }
    void give_back(VisitSlot& slot) noexcept {
        const std::scoped_lock lock(mutex_);
        free_.push_back(&slot);
    }
    [[nodiscard]] bool lists(const ContextCore& core) noexcept {
        const std::scoped_lock lock(mutex_);
        return std::ranges::any_of(all_, [&](const VisitSlot* slot) {
            return std::ranges::any_of(
                slot->at, [&](const auto& place) { return place.load(std::memory_order_seq_cst) == &core; });
        });
    }
    [[nodiscard]] bool ordered() const noexcept { return ordered_; }
    [[nodiscard]] std::mutex& mutex() noexcept { return mutex_; }
    void forget_all_but(const VisitSlot* mine) noexcept {
        for (VisitSlot* slot : all_) {
            if (slot == mine || slot->depth == 0) continue;
            for (auto& place : slot->at) place.store(nullptr, std::memory_order_relaxed);
            slot->depth = 0;
        }
    }

private:
    std::mutex mutex_;
    std::vector<VisitSlot*> all_;
    std::vector<VisitSlot*> free_;
    const bool ordered_ = !register_barrier();
};

/// Gives a thread's slot back when the thread ends.
struct SlotHolder {
    bool ended = false;
    SlotHolder() = default;
    ~SlotHolder() {
        ended = true;
        ProcessEnd::refresh();  // the thread may be calling exit()
        if (VisitSlot::mine == nullptr || VisitSlot::mine->depth != 0) return;  // exit() was called in a use
        Slots::instance().give_back(*VisitSlot::mine);
        VisitSlot::mine = nullptr;
    }
    SlotHolder(const SlotHolder&) = delete;
    SlotHolder& operator=(const SlotHolder&) = delete;
};
thread_local SlotHolder holder;

}  // namespace

constinit thread_local VisitSlot* VisitSlot::mine = nullptr;

VisitSlot* VisitSlot::register_thread() noexcept {
    if (holder.ended) return nullptr;
    try {
        mine = Slots::instance().take();
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
    return mine;
}

void VisitSlot::lock_all() { Slots::instance().mutex().lock(); }
void VisitSlot::unlock_all() { Slots::instance().mutex().unlock(); }
void VisitSlot::forget_other_threads() noexcept { Slots::instance().forget_all_but(mine); }

void order_before_visits() noexcept {
    // A forked child may have to register again.
    if (!Slots::instance().ordered() && !barrier_on_all_threads() && register_barrier())
        static_cast<void>(barrier_on_all_threads());
}

bool is_visited(const ContextCore& core) noexcept { return Slots::instance().lists(core); }

bool is_visited_here(const ContextCore& core) noexcept {
    const VisitSlot* const slot = VisitSlot::mine;
    return slot != nullptr && std::ranges::any_of(slot->at, [&](const auto& place) {
               return place.load(std::memory_order_relaxed) == &core;
           });
}

}  // namespace volley::runtime
