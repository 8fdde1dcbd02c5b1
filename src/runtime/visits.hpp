// Records which contexts the threads of the process are using. Each thread lists its uses in its own slot, so
// a use costs two plain stores and a load; the thread that closes a context looks through all slots.
//
// A visitor lists the context and then reads its state; a closing thread changes the state and then reads the
// lists. One of the two must see what the other wrote. Where the kernel has membarrier(2), only the closing
// thread pays for that: it makes every running thread execute a barrier. Elsewhere the visitor's store is
// sequentially consistent.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace volley::runtime {

class ContextCore;

/// The uses of one thread. Only that thread writes.
struct alignas(64) VisitSlot {
    static constexpr unsigned most = 6;  // nested uses; further ones are counted in the context

    std::array<std::atomic<const ContextCore*>, most> at{};
    unsigned depth = 0;
    bool ordered = true;  // membarrier(2) cannot be used

    /// The calling thread's slot: nullptr until its first use, and while its thread-local objects are
    /// destroyed. The model is that of thread-locals of the program itself: one instruction, also in a shared
    /// library.
    [[gnu::tls_model("initial-exec")]] static constinit thread_local VisitSlot* mine;

    /// Returns the thread's slot, registered now if it has none; nullptr if that is impossible.
    [[nodiscard]] static VisitSlot* of_this_thread() noexcept {
        return mine != nullptr ? mine : register_thread();
    }
    /// Lists a use. The caller reads the state of the context next.
    [[nodiscard]] bool enter(const ContextCore& core) noexcept {
        if (depth == most) return false;
        std::atomic<const ContextCore*>& place = at[depth++];
        if (ordered) {
            place.store(&core, std::memory_order_seq_cst);
        } else {
            place.store(&core, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
        }
        return true;
    }
    // For fork(): the slots of the threads that do not exist in the child.
    static void lock_all();
    static void unlock_all();
    static void forget_other_threads() noexcept;  // with all locked

    /// Ends the last use.
    void leave() noexcept { at[--depth].store(nullptr, std::memory_order_release); }

private:
    static VisitSlot* register_thread() noexcept;
};

/// Orders the caller's earlier sequentially consistent stores before is_visited(), towards all threads in
/// VisitSlot::enter().
void order_before_visits() noexcept;
/// Returns whether some thread lists a use of the context. Call after order_before_visits().
[[nodiscard]] bool is_visited(const ContextCore& core) noexcept;
/// Returns whether the calling thread does.
[[nodiscard]] bool is_visited_here(const ContextCore& core) noexcept;

}  // namespace volley::runtime
