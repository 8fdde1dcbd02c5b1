// First fit, largest item first: cheap, and within a few percent of the optimum for the lifetimes in graphs.
#include "runtime/arena_plan.hpp"

#include "core/fail.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace volley::runtime {

ArenaPlan plan_arena(const std::vector<ArenaItem>& items) {
    ArenaPlan plan;
    plan.offsets.resize(items.size());
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return items[a].bytes > items[b].bytes; });
    const auto padded = [](std::uint64_t bytes) {
        return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
    };
    std::vector<std::size_t> placed;  // sorted by offset
    for (const std::size_t i : order) {
        const ArenaItem& item = items[i];
        if (item.bytes > std::numeric_limits<std::uint64_t>::max() / 2 - plan.naive) {
            fail(ErrorCode::OutOfMemory, "the total size of the temporaries overflows 64 bits",
                 "a command graph", "use smaller temporaries");
        }
        const std::uint64_t size = padded(item.bytes);
        plan.naive += size;
        std::uint64_t at = 0;
        for (const std::size_t other : placed) {
            const bool meet = items[other].first <= item.last && item.first <= items[other].last;
            if (!meet) continue;
            if (plan.offsets[other] >= at + size) break;
            at = std::max(at, plan.offsets[other] + padded(items[other].bytes));
        }
        plan.offsets[i] = at;
        plan.bytes = std::max(plan.bytes, at + size);
        const auto position = std::upper_bound(
            placed.begin(), placed.end(), at,
            [&](std::uint64_t value, std::size_t other) { return value < plan.offsets[other]; });
        placed.insert(position, i);
    }
    return plan;
}

}  // namespace volley::runtime
