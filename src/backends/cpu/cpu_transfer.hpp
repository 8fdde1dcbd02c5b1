// What copies and fills become before a queue or a batch takes them: rows, and their cut into pieces.
#pragma once

#include "backends/cpu/cpu_command.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace volley::backends::cpu {

/// What rows are to become of which: fewer and longer ones where they touch. `pattern` must outlive the fill.
[[nodiscard]] Transfer copying(std::byte* to, const std::byte* from, const backends::RectMove& move);
[[nodiscard]] Transfer filling(std::byte* to, const backends::RectPlace& at, const backends::Rect& rect,
                               std::span<const std::byte> pattern);

/// How long one thread would take: a guess, in nanoseconds.
[[nodiscard]] double estimated_ns(const Transfer& transfer);

/// Chooses how a transfer of some bytes is done by that many threads, and gives the number of its pieces: one
/// if other threads are not worth it.
[[nodiscard]] std::uint32_t arrange(Transfer& transfer, unsigned threads);

}  // namespace volley::backends::cpu
