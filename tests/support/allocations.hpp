// Counts what the whole program asks operator new for. Only in programs of which allocations.cpp is a source;
// sanitizers have operators of their own, so nothing is counted there.
#pragma once

#include <cstdint>

namespace volley::testing {

[[nodiscard]] std::uint64_t allocation_count() noexcept;

}  // namespace volley::testing
