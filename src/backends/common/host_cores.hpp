// Whether drivers in this process compute on the host's cores (lavapipe, SwiftShader, PoCL). A thread that
// spins with pause instructions then takes a core from the work that it waits for.
#pragma once

#include <atomic>
#include <thread>

namespace volley::backends {

/// Owned by a device. While one for host cores exists, spinning threads of this process yield.
class HostCoresUse {
public:
    explicit HostCoresUse(bool on_host_cores) noexcept : counted_(on_host_cores) {
        if (counted_) users.fetch_add(1, std::memory_order_relaxed);
    }
    ~HostCoresUse() {
        if (counted_) users.fetch_sub(1, std::memory_order_relaxed);
    }
    HostCoresUse(const HostCoresUse&) = delete;
    HostCoresUse& operator=(const HostCoresUse&) = delete;

    /// Called by spinning threads now and then. Costs one relaxed load if no such device is open: yielding to
    /// threads of other programs would cost a time slice.
    static void give_way() noexcept {
        if (users.load(std::memory_order_relaxed) != 0) std::this_thread::yield();
    }

private:
    static inline constinit std::atomic<unsigned> users{0};
    bool counted_;
};

}  // namespace volley::backends
