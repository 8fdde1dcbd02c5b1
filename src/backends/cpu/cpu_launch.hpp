// Prepares a launch for a queue or a batch: selects the variant's code, divides the work into pieces, and
// packs the arguments into bytes.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/cpu/cpu_command.hpp"

#include <cstddef>
#include <span>

namespace volley::backends::cpu {

class CpuProgram;

constexpr double small_ns = 8'000;   // below this, waking another thread costs more
constexpr double piece_ns = 20'000;  // large enough to make the cost of claiming a piece negligible
/// The length of a piece that other queues, and threads with a time limit, can wait for.
constexpr double slice_ns = 500'000;

/// Returns a rough estimate of the time that one thread needs.
[[nodiscard]] double estimated_ns(const CpuProgram& program, ir::Dim3 global);

/// Divides a launch for that many threads; returns one piece if more threads do not pay off. A launch is
/// small, or its pieces brief, only if that is certain: if the length of a loop depends on data, any earlier
/// measurement may be wrong by orders of magnitude. So may any estimate if a print sink takes part.
[[nodiscard]] Pieces cut(const CpuProgram& program, ir::Dim3 global, ir::Dim3 local, unsigned threads);

/// Prepares a launch except for its arguments. Compiles the variant on first use; throws CompileError.
[[nodiscard]] KernelRun prepare_launch(const backends::Launch& launch, unsigned threads);

/// Packs a launch's arguments into `to` in the layout of CpuProgram::args. Skips dynamic arguments.
void pack_arguments(const CpuProgram& program, std::span<const backends::Argument> args, std::byte* to);

}  // namespace volley::backends::cpu
