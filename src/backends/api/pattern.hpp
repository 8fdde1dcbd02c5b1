// Repeating a pattern in memory, as fills do.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace volley::backend {

/// The pattern over and over; the last time it may be cut off.
inline void repeat(std::byte* to, std::uint64_t bytes, std::span<const std::byte> pattern) {
    std::uint64_t done = std::min<std::uint64_t>(pattern.size(), bytes);
    std::memcpy(to, pattern.data(), done);
    while (done < bytes) {
        const std::uint64_t more = std::min(done, bytes - done);
        std::memcpy(to + done, to, more);
        done += more;
    }
}

/// Some whole patterns, from which a device makes the rest by copying what is there behind itself.
[[nodiscard]] inline std::vector<std::byte> seed_of(std::span<const std::byte> pattern, std::uint64_t bytes) {
    constexpr std::uint64_t seed_bytes = 64 * 1024;
    const std::uint64_t repeats = std::max<std::uint64_t>(seed_bytes / pattern.size(), 1);
    std::vector<std::byte> seed(std::min(bytes, repeats * pattern.size()));
    repeat(seed.data(), seed.size(), pattern);
    return seed;
}

}  // namespace volley::backend
