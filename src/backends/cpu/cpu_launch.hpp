// What a launch becomes before a queue or a batch takes it: the variant's code, its cut into pieces, and its
// arguments as bytes.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/cpu/cpu_command.hpp"

#include <cstddef>
#include <span>

namespace volley::backends::cpu {

class CpuProgram;

constexpr double small_ns = 8'000;   // cheaper than handing it to another thread
constexpr double piece_ns = 20'000;  // a piece should dwarf the cost of claiming it

/// How long one thread would take: a guess.
[[nodiscard]] double estimated_ns(const CpuProgram& program, ir::Dim3 global);

/// How to cut a launch for that many threads: one piece if other threads are not worth it.
[[nodiscard]] Pieces cut(const CpuProgram& program, ir::Dim3 global, ir::Dim3 local, unsigned threads);

/// Everything of a launch but its arguments. Compiles the variant if it is new; throws CompileError.
[[nodiscard]] KernelRun prepare_launch(const backends::Launch& launch, unsigned threads);

/// Packs a launch's arguments into `to`, laid out as the kernel expects them (CpuProgram::args). Those that
/// are dynamic are left out.
void pack_arguments(const CpuProgram& program, std::span<const backends::Argument> args, std::byte* to);

}  // namespace volley::backends::cpu
