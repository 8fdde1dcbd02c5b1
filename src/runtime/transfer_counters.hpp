// Counters of the transfers of a context. Relaxed atomics: for display, not for decisions.
#pragma once

#include <volley/statistics.hpp>

#include <atomic>
#include <cstdint>

namespace volley::runtime {

struct TransferCounters {
    using Counter = std::atomic<std::uint64_t>;
    Counter whole{0}, rects{0}, rows{0}, direct{0}, hops{0}, driver_calls{0}, bytes{0};

    static void add(Counter& counter, std::uint64_t count = 1) noexcept {
        counter.fetch_add(count, std::memory_order_relaxed);
    }
    [[nodiscard]] TransferStats snapshot() const noexcept {
        const auto get = [](const Counter& counter) { return counter.load(std::memory_order_relaxed); };
        return {get(whole), get(rects), get(rows), get(direct), get(hops), get(driver_calls), get(bytes)};
    }
};

}  // namespace volley::runtime
