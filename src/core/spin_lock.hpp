// A lock for a few instructions: one atomic exchange to take, one store to give back.
#pragma once

#include <atomic>
#include <thread>

namespace volley {

/// For sections of some nanoseconds that wait for nothing and call nobody else's code. Goes with
/// std::scoped_lock.
class SpinLock {
public:
    void lock() noexcept {
        while (taken_.exchange(true, std::memory_order_acquire)) {
            // Its holder may have lost its core.
            while (taken_.load(std::memory_order_relaxed)) std::this_thread::yield();
        }
    }
    void unlock() noexcept { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_{false};
};

}  // namespace volley
