// A spin lock for critical sections of a few instructions: one atomic exchange to lock, one store to unlock.
#pragma once

#include <atomic>
#include <thread>

namespace volley {

/// For critical sections of a few nanoseconds that never block and never call user code. Works with
/// std::scoped_lock.
class SpinLock {
public:
    void lock() noexcept {
        while (taken_.exchange(true, std::memory_order_acquire)) {
            // The thread that holds the lock may have been preempted.
            while (taken_.load(std::memory_order_relaxed)) std::this_thread::yield();
        }
    }
    void unlock() noexcept { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_{false};
};

}  // namespace volley
