// One entry of a CPU queue: a kernel launch, a transfer, a callback, a wait or a batch, divided into pieces
// that threads claim.
//
// Invariant: pieces can be claimed only while the command is the first of its queue (`claim` is zero
// otherwise), and the other members do not change from then until the last claimed piece has run. A thread
// that has claimed a piece may read everything; other threads may access `claim` alone, even if the command
// has been reused. The `claim` of a batch grows while pieces of it are held, as others become ready.
#pragma once

#include "backends/api/rect_parts.hpp"
#include "backends/api/timeline.hpp"
#include "backends/api/times.hpp"
#include "codegen/llvm/kernel_abi.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace volley::backends::cpu {

class CpuBatch;
class CpuProgram;
class CpuTimeline;

enum class CpuCommandKind : std::uint8_t { Launch, Copy, Fill, Call, Wait, Mark, Batch };

/// How a launch is divided into pieces: the rows of a flat kernel, or segments of rows if there are too few;
/// the workgroups of a grouped kernel.
struct Pieces {
    std::uint32_t count = 1;
    std::uint64_t rows = 1;      // rows, or workgroups, in a piece
    std::uint64_t segments = 1;  // pieces of a row
    std::uint64_t segment = 0;   // invocations in a segment, a multiple of the width
    bool grouped = false;
    bool small = false;  // surely cheaper than handing it to another thread
    bool brief = false;  // no piece takes much longer than slice_ns
};

/// What a launch needs at run time besides its arguments.
struct KernelRun {
    const CpuProgram* program = nullptr;
    codegen::llvm::KernelFn entry = nullptr;
    std::size_t shared_bytes = 0;
    std::size_t spill_bytes = 0;
    codegen::llvm::Work work;  // begin, end, row_begin and row_end cover the whole grid
    Pieces pieces;
};

/// Runs piece `index` on this thread. Throws what the print sink throws, after the whole piece has run.
void run_kernel(const KernelRun& run, std::uint32_t index);

/// Rows to copy or to fill.
struct Transfer {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;  // a copy's source, or a fill's pattern
    backends::RectMove move;          // a fill ignores `from`
    backends::Rect most;              // the largest piece in each direction; whole patterns of a row
    std::uint64_t pattern = 0;        // bytes of a fill's pattern
    bool streaming = false;           // exceeds the caches: bypasses them
};
void run_copy(const Transfer& transfer, std::uint32_t index);
void run_fill(const Transfer& transfer, std::uint32_t index);

/// Sets `most` for about `pieces` pieces of similar size, and returns their number.
[[nodiscard]] std::uint32_t cut(Transfer& transfer, std::uint64_t pieces);

struct CpuCommand;

/// What a wait waits for. Another CPU queue lists the wait from its submission on and reports when the point
/// has passed: no thread sleeps. For other timelines the keeper waits when it is the command's turn.
struct Wait {
    backends::Timeline* timeline = nullptr;
    CpuTimeline* queue = nullptr;  // `timeline`, if it is a CPU queue's
    backends::Point point = 0;
    CpuTimeline* waiting = nullptr;  // the one that the command belongs to
    bool passed = false;             // guarded by the lock of `waiting`
    CpuCommand* next = nullptr;      // in the list of `queue`
    std::int64_t begin = 0;          // when its turn came, if timed
};

struct CpuCommand {
    // The word `claim`. The lower half counts the pieces left to claim. The upper half has the lower bits of
    // the command's point, so that a thread that helps up to a point takes nothing after it, and flags:
    static constexpr std::uint64_t elsewhere = std::uint64_t{1} << 63;     // waits for another queue
    static constexpr std::uint64_t brief_pieces = std::uint64_t{1} << 62;  // `brief` is set
    static constexpr std::uint64_t workers_only = std::uint64_t{1} << 61;  // waiting threads do not help
    static constexpr unsigned point_shift = 32;
    static constexpr std::uint64_t point_mask = (std::uint64_t{1} << 29) - 1;

    [[nodiscard]] static constexpr std::uint64_t word_of(backends::Point point) noexcept {
        return (point & point_mask) << point_shift;
    }
    [[nodiscard]] static constexpr std::uint32_t left(std::uint64_t word) noexcept {
        return static_cast<std::uint32_t>(word);
    }
    static constexpr backends::Point everything = ~backends::Point{0};
    /// Returns whether the word's command is after the point. No queue holds enough commands for an
    /// ambiguity.
    [[nodiscard]] static constexpr bool is_after(std::uint64_t word, backends::Point point) noexcept {
        if (point == everything) return false;
        const std::uint64_t ahead = ((word >> point_shift) - point) & point_mask;
        return ahead != 0 && ahead <= point_mask / 2;
    }
    static constexpr std::size_t inline_bytes = 512;  // 16 buffers, or 16 values of 32 bytes

    std::atomic<std::uint64_t> claim{0};
    std::atomic<std::uint32_t> finished{0};

    CpuCommandKind kind = CpuCommandKind::Launch;
    bool brief = true;  // no piece takes much longer than slice_ns
    std::uint32_t pieces = 1;
    backends::Point point = 0;
    CpuCommand* next = nullptr;

    KernelRun kernel;
    Transfer transfer;
    std::function<void()> callback;
    Wait wait;
    CpuBatch* batch = nullptr;
    std::uint32_t instances = 0;
    const std::byte* values = nullptr;  // of a batch's instances
    backends::TimesTag times;           // null unless the command is timed

    alignas(64) std::byte bytes[inline_bytes];  // a launch's arguments, a batch's values, a small transfer's
                                                // data, a fill's pattern
    std::unique_ptr<std::byte[]> more_bytes;    // if these do not suffice

    /// Returns room for `size` bytes, which is kept for the next use.
    [[nodiscard]] std::byte* reserve(std::size_t size);
    /// Frees what is too large to be kept, after the command has run.
    void let_go() noexcept;

private:
    static constexpr std::size_t most_kept = 64 * 1024;  // of a transfer's data
    std::size_t more_size_ = 0;
};

}  // namespace volley::backends::cpu
