// One entry of a CPU queue: a kernel launch, a transfer, a callback, a wait or a batch, cut into pieces that
// threads claim.
//
// Invariant: pieces can be claimed only while the command is the first of its queue (`claim` is zero
// otherwise), and the other members do not change from then until the last claimed piece is done. So a thread
// that has claimed a piece may read everything, and one that has not may touch `claim` alone, even if the
// command was reused meanwhile. A batch's `claim` grows while pieces of it are held, as others become ready.
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

/// How a launch is cut into pieces. A flat kernel's rows are cut, and where there are too few of them each
/// row into segments; a grouped kernel's workgroups.
struct Pieces {
    std::uint32_t count = 1;
    std::uint64_t rows = 1;      // rows, or workgroups, in a piece
    std::uint64_t segments = 1;  // pieces of a row
    std::uint64_t segment = 0;   // invocations in a segment, a multiple of the width
    bool grouped = false;
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

/// Rows to move or to fill; often just one.
struct Transfer {
    std::byte* to = nullptr;
    const std::byte* from = nullptr;  // a copy's source, or a fill's pattern
    backends::RectMove move;          // a fill's has no `from`
    backends::Rect most;              // of a piece, in each direction; of a row whole patterns
    std::uint64_t pattern = 0;        // a fill's period
    bool streaming = false;           // more than the caches hold: go around them
};
void run_copy(const Transfer& transfer, std::uint32_t index);
void run_fill(const Transfer& transfer, std::uint32_t index);

/// Sets `most` so that there are about so many pieces of like size, and gives their number.
[[nodiscard]] std::uint32_t cut(Transfer& transfer, std::uint64_t pieces);

struct CpuCommand;

/// What a wait waits for. Another CPU queue keeps it from when it is given, and says when its point has
/// passed: no thread sleeps there. For others the queue's own thread waits when the command's turn has come.
struct Wait {
    backends::Timeline* timeline = nullptr;
    CpuTimeline* queue = nullptr;  // `timeline`, if it is a CPU queue's
    backends::Point point = 0;
    CpuTimeline* waiting = nullptr;  // the one that the command belongs to
    bool passed = false;          // with the lock of `waiting`
    CpuCommand* next = nullptr;   // in the list of `queue`
    std::int64_t begin = 0;       // when its turn came, if somebody wants to know
};

struct CpuCommand {
    // The word `claim`: below, how many pieces are left to claim; above, the lower bits of the command's
    // point, so that whoever helps up to a point never takes what lies behind it; and
    static constexpr std::uint64_t elsewhere = std::uint64_t{1} << 63;  //   whether another queue is first;
    static constexpr std::uint64_t two_ended = std::uint64_t{1} << 62;  //   whether from both ends, and then
    static constexpr unsigned front_shift = 16;  //   from here on how many from the front.
    static constexpr std::uint32_t most_pieces = (1u << front_shift) - 1;
    static constexpr unsigned point_shift = 32;
    static constexpr std::uint64_t point_mask = (std::uint64_t{1} << 29) - 1;

    [[nodiscard]] static constexpr std::uint64_t word_of(backends::Point point) noexcept {
        return (point & point_mask) << point_shift;
    }
    [[nodiscard]] static constexpr std::uint32_t left(std::uint64_t word) noexcept {
        const auto pieces = static_cast<std::uint32_t>(word);
        return (word & two_ended) != 0 ? pieces & most_pieces : pieces;
    }
    static constexpr backends::Point everything = ~backends::Point{0};
    /// Whether the word's command lies behind the point. No queue holds as many commands as would mislead it.
    [[nodiscard]] static constexpr bool is_behind(std::uint64_t word, backends::Point point) noexcept {
        if (point == everything) return false;
        const std::uint64_t ahead = ((word >> point_shift) - point) & point_mask;
        return ahead != 0 && ahead <= point_mask / 2;
    }
    /// Whether there is a piece for a thread that goes as far as the point.
    [[nodiscard]] static constexpr bool has_piece(std::uint64_t word, backends::Point until) noexcept {
        return left(word) != 0 && !is_behind(word, until);
    }
    static constexpr std::size_t inline_bytes = 512;  // 16 buffers, or 16 values of 32 bytes

    std::atomic<std::uint64_t> claim{0};
    std::atomic<std::uint32_t> finished{0};

    CpuCommandKind kind = CpuCommandKind::Launch;
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
    backends::TimesTag times;           // of most commands nobody's

    alignas(64) std::byte bytes[inline_bytes];  // a launch's arguments, a batch's values, a small transfer's
                                                // data, a fill's pattern
    std::unique_ptr<std::byte[]> more_bytes;    // where these do not suffice

    /// Room for that many bytes, kept for the next use.
    [[nodiscard]] std::byte* reserve(std::size_t size);
    /// It has run: what is too large to be kept for the next use goes.
    void let_go() noexcept;

private:
    static constexpr std::size_t most_kept = 64 * 1024;  // of a transfer's data
    std::size_t more_size_ = 0;
};

}  // namespace volley::backends::cpu
