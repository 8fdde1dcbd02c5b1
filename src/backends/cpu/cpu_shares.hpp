// The pieces of a command, divided among threads: each has a contiguous range, in the same proportion in
// every command. In the next command over the same memory a thread then finds in its core's caches what it
// used in this one; moving it from another core costs several times the kernel. A thread whose range is
// empty takes pieces of others, so that no thread idles while there is work.
//
// Invariant: as many pieces are taken as were dealt, at most: callers hold a claim for each.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>

namespace volley::backends::cpu {

/// The range of one thread: the next piece in the upper half, the end in the lower.
using Share = std::atomic<std::uint64_t>;

/// Divides pieces evenly. No other thread may take any meanwhile.
void deal(std::span<Share> shares, std::uint32_t pieces) noexcept;

/// Returns the next piece of that thread's range, unless that is empty. Numbers of threads wrap around.
[[nodiscard]] std::optional<std::uint32_t> take_own(std::span<Share> shares, unsigned thread) noexcept;

/// Returns the next piece of that thread's range, else the last of the longest one.
[[nodiscard]] std::uint32_t take_piece(std::span<Share> shares, unsigned thread) noexcept;

}  // namespace volley::backends::cpu
