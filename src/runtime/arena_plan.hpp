// Assigns offsets to the temporaries of a graph within one shared allocation, the arena. Temporaries with
// overlapping lifetimes get disjoint ranges; others may share memory.
#pragma once

#include <cstdint>
#include <vector>

namespace volley::runtime {

/// A temporary: its size, and the steps of its first and last use, both inclusive.
struct ArenaItem {
    std::uint64_t bytes = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

struct ArenaPlan {
    std::vector<std::uint64_t> offsets;  // by item, multiples of arena_alignment
    std::uint64_t bytes = 0;             // size of the arena
    std::uint64_t naive = 0;             // total size without sharing
};

/// The strictest buffer alignment that devices require, and a few cache lines.
inline constexpr std::uint64_t arena_alignment = 256;

/// Places the items, largest first, each at the lowest offset that is free during its lifetime. Throws
/// MemoryError (OutOfMemory) if the total size overflows.
[[nodiscard]] ArenaPlan plan_arena(const std::vector<ArenaItem>& items);

}  // namespace volley::runtime
