// Repeats a pattern in memory, for fills.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace volley::backends {

/// Fills the range with the pattern; the last repetition may be cut off.
inline void repeat(std::byte* to, std::uint64_t bytes, std::span<const std::byte> pattern) {
    if (pattern.size() == 1) {
        std::memset(to, std::to_integer<int>(pattern[0]), bytes);
        return;
    }
    // Build a block of whole patterns that stays in the L1 cache, then copy that block repeatedly.
    std::uint64_t block = std::min<std::uint64_t>(pattern.size(), bytes);
    std::memcpy(to, pattern.data(), block);
    while (block < 4096 && block < bytes) {
        const std::uint64_t more = std::min(block, bytes - block);
        std::memcpy(to + block, to, more);
        block += more;
    }
    for (std::uint64_t done = block; done < bytes; done += block)
        std::memcpy(to + done, to, std::min(block, bytes - done));
}

/// Returns the 32-bit word that the pattern repeats, or nothing if it is not such a repetition.
[[nodiscard]] inline std::optional<std::uint32_t> as_word(std::span<const std::byte> pattern) {
    std::uint32_t word = 0;
    if (pattern.size() > sizeof word && pattern.size() % sizeof word != 0) return std::nullopt;
    if (pattern.size() < sizeof word && sizeof word % pattern.size() != 0) return std::nullopt;
    repeat(reinterpret_cast<std::byte*>(&word), sizeof word, pattern);
    for (std::size_t at = 0; at < pattern.size(); at += sizeof word) {
        const std::size_t bytes = std::min(sizeof word, pattern.size() - at);
        if (std::memcmp(pattern.data() + at, &word, bytes) != 0) return std::nullopt;
    }
    return word;
}

/// Returns some whole patterns, which a device then duplicates with copies to fill the rest.
[[nodiscard]] inline std::vector<std::byte> seed_of(std::span<const std::byte> pattern, std::uint64_t bytes) {
    constexpr std::uint64_t seed_bytes = 64 * 1024;
    const std::uint64_t repeats = std::max<std::uint64_t>(seed_bytes / pattern.size(), 1);
    std::vector<std::byte> seed(std::min(bytes, repeats * pattern.size()));
    repeat(seed.data(), seed.size(), pattern);
    return seed;
}

}  // namespace volley::backends
