// Copies and fills of a queue or a batch: their rows, and the division into pieces.
#pragma once

#include "backends/cpu/cpu_command.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace volley::backends::cpu {

// Both join adjacent rows. `pattern` must outlive the fill.
[[nodiscard]] Transfer copying(std::byte* to, const std::byte* from, const backends::RectMove& move);
[[nodiscard]] Transfer filling(std::byte* to, const backends::RectPlace& at, const backends::Rect& rect,
                               std::span<const std::byte> pattern);

/// Estimates how long one thread takes, in nanoseconds.
[[nodiscard]] double estimated_ns(const Transfer& transfer);

/// Returns whether the transfer is cheaper than handing it to another thread.
[[nodiscard]] bool is_small(const Transfer& transfer);

/// Chooses how up to `threads` threads do the transfer, and returns the number of pieces: one if other
/// threads are not worth it. The transfer is not empty.
[[nodiscard]] std::uint32_t arrange(Transfer& transfer, unsigned threads);

}  // namespace volley::backends::cpu
