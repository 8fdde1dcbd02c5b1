// Where the temporaries of a graph lie in the one piece of memory that they share: two whose lifetimes meet
// lie apart, others may lie in the same place.
#pragma once

#include <cstdint>
#include <vector>

namespace volley::runtime {

/// A temporary: its size, and the steps from its first to its last use, both included.
struct ArenaItem {
    std::uint64_t bytes = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

struct ArenaPlan {
    std::vector<std::uint64_t> offsets;  // by item, multiples of arena_alignment
    std::uint64_t bytes = 0;             // that the arena needs
    std::uint64_t naive = 0;             // that the items would need with a place each
};

/// What devices ask of a buffer's address at most, and a few cache lines.
inline constexpr std::uint64_t arena_alignment = 256;

/// The largest first, each at the lowest place that is free for as long as it lives. Throws MemoryError
/// (OutOfMemory) where the sum overflows.
[[nodiscard]] ArenaPlan plan_arena(const std::vector<ArenaItem>& items);

}  // namespace volley::runtime
