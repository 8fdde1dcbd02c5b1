// Size classes of cached memory: multiples of 256 bytes up to 4 KiB, then eight per power of two. Above 4
// KiB, rounding wastes at most an eighth of a block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace volley::runtime {

struct SizeClass {
    static constexpr unsigned count = 16 + 8 * 50;
    static constexpr std::uint64_t smallest = 256;
    static constexpr std::uint64_t largest = std::uint64_t{1} << 62;

    [[nodiscard]] static constexpr std::uint64_t size(unsigned index) noexcept {
        if (index < 16) return (index + 1) * smallest;
        const unsigned power = 12 + (index - 16) / 8;
        return (std::uint64_t{1} << power) + (std::uint64_t{(index - 16) % 8 + 1} << (power - 3));
    }
    /// Returns the smallest class that holds `bytes` bytes. Requires bytes <= largest.
    [[nodiscard]] static constexpr unsigned above(std::uint64_t bytes) noexcept {
        const std::uint64_t last = std::max<std::uint64_t>(bytes, 1) - 1;
        if (last < 4096) return static_cast<unsigned>(last / smallest);
        const auto power = static_cast<unsigned>(std::bit_width(last)) - 1;
        return 16 + (power - 12) * 8 + static_cast<unsigned>(last >> (power - 3) & 7);
    }
    /// Returns the largest class whose size is at most `bytes`. Requires smallest <= bytes <= largest.
    [[nodiscard]] static constexpr unsigned below(std::uint64_t bytes) noexcept {
        const unsigned index = above(bytes);
        return size(index) == bytes ? index : index - 1;
    }
};

}  // namespace volley::runtime
