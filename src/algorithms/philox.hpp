// What kernels of random numbers share: several blocks of Philox at once.
#pragma once

#include <volley/algorithms/random_generators.hpp>
#include <volley/lang/cast.hpp>
#include <volley/lang/operators.hpp>

#include <span>
#include <vector>

namespace volley::random {

/// Returns philox(key, counter) of each counter. The rounds of the blocks alternate: each round waits for the
/// one before it, so that a processor computes several blocks in nearly the time of one.
[[nodiscard]] std::vector<Words4> philox_blocks(const Words2& key, std::span<const Words4> counters);

/// Returns the low and the high word.
[[nodiscard]] inline Words2 halves_of(const Value<u64>& x) {
    return make<vec<u32, 2>>(cast<u32>(x), cast<u32>(x >> 32U));
}

}  // namespace volley::random
