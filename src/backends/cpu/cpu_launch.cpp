// Selects a launch's kernel variant and its division into pieces.
#include "backends/cpu/cpu_launch.hpp"

#include "backends/common/stream_copy.hpp"
#include "backends/cpu/cpu_program.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace volley::backends::cpu {
namespace {

bool is_whole(ir::Dim3 global, ir::Dim3 local) {
    return global[0] % local[0] == 0 && global[1] % local[1] == 0 && global[2] % local[2] == 0;
}

/// Returns whether results should be written with streaming stores: output larger than the last-level cache
/// only evicts other data. Results of a few elements, such as a count beside an array, make no difference.
bool pays_to_stream(const CpuProgram& program, std::span<const backends::Argument> args) {
    constexpr std::size_t few_bytes = 4096;
    const auto& params = program.function().params;
    bool large = false;
    for (std::size_t i = 0; i < params.size(); ++i) {
        if (!program.written_only()[i]) continue;
        const auto start = reinterpret_cast<std::uintptr_t>(args[i].memory->host() + args[i].offset);
        const std::size_t bytes = args[i].elements * params[i].type.size();
        if (start % 64 != 0) return false;
        if (bytes <= few_bytes) continue;
        if (bytes <= backends::last_cache_bytes()) return false;
        large = true;
    }
    return large;
}

}  // namespace

double estimated_ns(const CpuProgram& program, ir::Dim3 global) {
    return program.cost() * static_cast<double>(global[0]) *
           static_cast<double>(std::uint64_t{global[1]} * global[2]);
}

Pieces cut(const CpuProgram& program, ir::Dim3 global, ir::Dim3 local, unsigned threads) {
    constexpr double most_pieces = 1u << 16;
    Pieces pieces;
    pieces.grouped = !program.flat();
    const std::uint64_t rows = std::uint64_t{global[1]} * global[2];
    const double total = estimated_ns(program, global);
    const bool certain = !program.wants_measuring();
    pieces.small = certain && total < small_ns;
    pieces.brief = certain && total <= 2 * slice_ns;
    if (total < small_ns) return pieces;
    const double by_time = total / slice_ns;
    const double by_threads = threads == 1 ? 1 : std::clamp(total / piece_ns, 2.0, 16.0 * threads);
    if (threads == 1 && by_time <= 1) return pieces;
    const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    // Equally many for each thread; otherwise some would move to another thread in every launch.
    const auto enough = static_cast<std::uint64_t>(std::min(std::max(by_time, by_threads), most_pieces));
    const std::uint64_t requested = ceil_div(enough, threads) * threads;
    if (pieces.grouped) {
        std::uint64_t groups = 1;
        for (std::size_t d = 0; d < 3; ++d) groups *= ceil_div(global[d], local[d]);
        pieces.rows = ceil_div(groups, requested);
        pieces.count = static_cast<std::uint32_t>(ceil_div(groups, pieces.rows));
    } else if (rows >= requested) {
        pieces.rows = ceil_div(rows, requested);
        pieces.count = static_cast<std::uint32_t>(ceil_div(rows, pieces.rows));
    } else {
        // Whole cache lines of every element type, so that no two threads write to one line, unless that
        // would keep costly invocations together.
        constexpr std::uint64_t line = 64;
        const bool costly = program.cost() * line > piece_ns;
        const std::uint64_t unit = costly ? program.width() : std::max<std::uint64_t>(line, program.width());
        pieces.segment = ceil_div(ceil_div(global[0], ceil_div(requested, rows)), unit) * unit;
        pieces.segments = ceil_div(global[0], pieces.segment);
        pieces.count = static_cast<std::uint32_t>(rows * pieces.segments);
    }
    pieces.brief = certain && total / pieces.count <= 2 * slice_ns;
    return pieces;
}

KernelRun prepare_launch(const backends::Launch& launch, unsigned threads) {
    const auto& program = static_cast<const CpuProgram&>(*launch.program);
    const ir::Dim3 global = launch.global;
    const ir::Dim3 local = launch.local;
    codegen::llvm::Variant variant;
    variant.local = local;
    variant.full = program.flat() ? global[0] % program.width() == 0 : is_whole(global, local);
    variant.huge =
        std::any_of(global.begin(), global.end(),
                    [](std::uint32_t n) { return n >= codegen::llvm::huge_extent; }) ||
        std::any_of(launch.args.begin(), launch.args.end(), [](const backends::Argument& argument) {
            return argument.elements > codegen::llvm::most_elements;
        });
    variant.streaming = variant.full && program.streams() && pays_to_stream(program, launch.args);
    const codegen::llvm::CompiledKernel& kernel = program.variant(variant);

    KernelRun run;
    run.program = &program;
    run.entry = kernel.entry();
    run.shared_bytes = kernel.shared_bytes();
    run.spill_bytes = kernel.spill_bytes();
    run.pieces = cut(program, global, local, threads);
    std::uint64_t groups = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        run.work.global_size[d] = global[d];
        run.work.group_count[d] =
            static_cast<std::uint32_t>((std::uint64_t{global[d]} + local[d] - 1) / local[d]);
        groups *= run.work.group_count[d];
    }
    if (program.flat()) {
        run.work.end = global[0];
        run.work.row_end = std::uint64_t{global[1]} * global[2];
    } else {
        run.work.end = groups;
    }
    return run;
}

void pack_arguments(const CpuProgram& program, std::span<const backends::Argument> args, std::byte* to) {
    const auto& params = program.function().params;
    const auto& offsets = program.args().offsets;
    for (std::size_t i = 0; i < params.size(); ++i) {
        if (params[i].kind == ir::ParamKind::Buffer) {
            const codegen::llvm::BufferArg buffer{args[i].memory->host() + args[i].offset, args[i].elements};
            std::memcpy(to + offsets[i], &buffer, sizeof buffer);
        } else if (args[i].dynamic == backends::Argument::fixed) {
            std::memcpy(to + offsets[i], args[i].value, params[i].type.size());
        }
    }
}

}  // namespace volley::backends::cpu
