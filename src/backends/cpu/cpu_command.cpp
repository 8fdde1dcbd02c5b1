// Runs pieces of commands. Independent of queues and threads.
#include "backends/cpu/cpu_command.hpp"

#include "backends/common/host_rect.hpp"
#include "backends/cpu/cpu_print.hpp"
#include "backends/cpu/cpu_program.hpp"
#include "backends/cpu/cpu_scratch.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace volley::backends::cpu {
namespace {

/// Returns the invocations of a piece; partial workgroups count as whole.
double invocations(const codegen::llvm::Work& work, const KernelRun& run) {
    if (!run.pieces.grouped) {
        return static_cast<double>(work.end - work.begin) *
               static_cast<double>(work.row_end - work.row_begin);
    }
    double all = 1;
    double groups = 1;
    for (int d = 0; d < 3; ++d) {
        all *= work.global_size[d];
        groups *= work.group_count[d];
    }
    return static_cast<double>(work.end - work.begin) * std::max(all / groups, 1.0);
}

constexpr std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

/// Returns the number of pieces in each direction.
backends::Rect parts_of(const Transfer& transfer) {
    const backends::Rect& rect = transfer.move.rect;
    const backends::Rect& most = transfer.most;
    return {ceil_div(rect.row, most.row),
            {ceil_div(rect.count[0], most.count[0]), ceil_div(rect.count[1], most.count[1])}};
}

backends::RectPart part_at(const Transfer& transfer, std::uint32_t index) {
    const backends::Rect& rect = transfer.move.rect;
    const backends::Rect& most = transfer.most;
    const backends::Rect parts = parts_of(transfer);
    backends::RectPart part;
    part.byte = index % parts.row * most.row;
    part.row = index / parts.row % parts.count[0] * most.count[0];
    part.plane = index / parts.row / parts.count[0] * most.count[1];
    part.rect.row = std::min(most.row, rect.row - part.byte);
    part.rect.count = {std::min(most.count[0], rect.count[0] - part.row),
                       std::min(most.count[1], rect.count[1] - part.plane)};
    return part;
}

}  // namespace

void run_kernel(const KernelRun& run, std::uint32_t index) {
    const Pieces& pieces = run.pieces;
    const bool plain = run.shared_bytes == 0 && run.spill_bytes == 0 && !run.program->prints() &&
                       !run.program->wants_measuring();
    if (pieces.count == 1 && plain) {
        run.entry(&run.work);
        return;
    }
    codegen::llvm::Work work = run.work;
    if (pieces.count > 1) {
        if (pieces.grouped) {
            work.begin = index * pieces.rows;
            work.end = std::min(work.begin + pieces.rows, run.work.end);
        } else if (pieces.segments > 1) {
            work.row_begin = index / pieces.segments;
            work.row_end = work.row_begin + 1;
            work.begin = index % pieces.segments * pieces.segment;
            work.end = std::min(work.begin + pieces.segment, run.work.end);
        } else {
            work.row_begin = index * pieces.rows;
            work.row_end = std::min(work.row_begin + pieces.rows, run.work.row_end);
        }
    }
    if (run.shared_bytes != 0 || run.spill_bytes != 0) {
        Scratch& scratch = Scratch::of_this_thread();
        work.shared = scratch.shared(run.shared_bytes);
        work.spill = scratch.spill(run.spill_bytes);
    }
    PrintJob job(*run.program);
    if (run.program->prints()) {
        work.print = &PrintJob::print;
        work.print_context = &job;
    }
    if (run.program->wants_measuring()) {
        const auto start = std::chrono::steady_clock::now();
        run.entry(&work);
        const std::chrono::duration<double, std::nano> time = std::chrono::steady_clock::now() - start;
        run.program->measured(time.count() / invocations(work, run));
    } else {
        run.entry(&work);
    }
    job.rethrow();
}

void run_copy(const Transfer& transfer, std::uint32_t index) {
    const backends::RectPart part = part_at(transfer, index);
    backends::copy_rows(transfer.to, transfer.from, part.in(transfer.move), transfer.streaming);
}

void run_fill(const Transfer& transfer, std::uint32_t index) {
    const backends::RectPart part = part_at(transfer, index);
    backends::fill_rows(transfer.to, part.in(transfer.move.to), part.rect, {transfer.from, transfer.pattern},
                        transfer.streaming);
}

std::uint32_t cut(Transfer& transfer, std::uint64_t pieces) {
    const backends::Rect& rect = transfer.move.rect;
    std::uint64_t bytes = ceil_div(rect.bytes(), pieces);
    if (rect.row > bytes) {
        // Rows are divided at whole pages, so that no two threads write to one cache line, and at whole
        // patterns.
        const std::uint64_t pattern = std::max<std::uint64_t>(transfer.pattern, 1);
        const std::uint64_t unit = std::lcm(std::uint64_t{4096}, pattern);
        bytes = std::min(ceil_div(bytes, unit) * unit, rect.row);
    }
    transfer.most = backends::part_of(rect, bytes);
    const backends::Rect parts = parts_of(transfer);
    return static_cast<std::uint32_t>(parts.row * parts.rows());
}

std::byte* CpuCommand::reserve(std::size_t size) {
    if (size <= inline_bytes) return bytes;
    if (size > more_size_) {
        more_bytes = std::make_unique_for_overwrite<std::byte[]>(size);
        more_size_ = size;
    }
    return more_bytes.get();
}

void CpuCommand::let_go() noexcept {
    if (more_size_ <= most_kept || kind != CpuCommandKind::Copy || transfer.from != more_bytes.get()) return;
    more_bytes.reset();
    more_size_ = 0;
}

}  // namespace volley::backends::cpu
