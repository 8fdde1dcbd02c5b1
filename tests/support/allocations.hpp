// Counts what the whole program asks operator new for. Only in programs of which allocations.cpp is a source;
// sanitizers have operators of their own, so nothing is counted there.
#pragma once

#include <cstdint>

namespace volley::testing {

[[nodiscard]] std::uint64_t allocation_count() noexcept;

/// How often that asks for memory, once it was done before.
template <class F>
[[nodiscard]] std::uint64_t allocations_when_repeated(F&& round) {
    for (int k = 0; k < 4; ++k) round();
    const std::uint64_t before = allocation_count();
    for (int k = 0; k < 4; ++k) round();
    return allocation_count() - before;
}

}  // namespace volley::testing
