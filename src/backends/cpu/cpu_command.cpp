// What running a piece of each kind of command means. Nothing here knows of queues or threads.
#include "backends/cpu/cpu_command.hpp"

#include "backends/api/stream_copy.hpp"
#include "backends/cpu/cpu_program.hpp"
#include "backends/cpu/cpu_scratch.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace volley::backends::cpu {
namespace {

/// How many invocations a piece has; partial workgroups count as whole.
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
    const std::uint64_t begin = index * transfer.piece;
    const std::uint64_t bytes = std::min(transfer.piece, transfer.bytes - begin);
    if (transfer.streaming) {
        backend::stream_copy(transfer.to + begin, transfer.from + begin, bytes);
    } else if (bytes != 0) {
        std::memcpy(transfer.to + begin, transfer.from + begin, bytes);
    }
}

void run_fill(const Transfer& transfer, std::uint32_t index) {
    const std::uint64_t begin = index * transfer.piece;
    const std::uint64_t bytes = std::min(transfer.piece, transfer.bytes - begin);
    std::byte* to = transfer.to + begin;
    if (transfer.pattern == 1) {
        std::memset(to, std::to_integer<int>(*transfer.from), bytes);
        return;
    }
    // A block of whole patterns that stays in the first cache, then that block over and over.
    std::uint64_t block = std::min(transfer.pattern, bytes);
    std::memcpy(to, transfer.from, block);
    while (block < 4096 && block < bytes) {
        const std::uint64_t more = std::min(block, bytes - block);
        std::memcpy(to + block, to, more);
        block += more;
    }
    for (std::uint64_t done = block; done < bytes; done += block) {
        std::memcpy(to + done, to, std::min(block, bytes - done));
    }
}

std::byte* Command::reserve(std::size_t size) {
    if (size <= inline_bytes) return bytes;
    if (size > more_size_) {
        more_bytes = std::make_unique<std::byte[]>(size);
        more_size_ = size;
    }
    return more_bytes.get();
}

}  // namespace volley::backends::cpu
