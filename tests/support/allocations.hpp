// Counts the whole program's calls of operator new. Works only in programs that compile allocations.cpp.
// Sanitizers have their own operators, so nothing is counted there.
#pragma once

#include <cstdint>

namespace volley::testing {

[[nodiscard]] std::uint64_t allocation_count() noexcept;

/// Returns how many allocations `round` makes when it is repeated.
template <class F>
[[nodiscard]] std::uint64_t allocations_when_repeated(F&& round) {
    for (int k = 0; k < 4; ++k) round();
    const std::uint64_t before = allocation_count();
    for (int k = 0; k < 4; ++k) round();
    return allocation_count() - before;
}

}  // namespace volley::testing
