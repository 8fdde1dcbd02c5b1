// One entry of a CPU queue: a kernel launch, a transfer, a callback or a wait, cut into pieces that threads
// claim.
//
// Invariant: pieces can be claimed only while the command is the first of its queue (`claim` is zero
// otherwise), and the other members do not change from then until the last claimed piece is done. So a thread
// that has claimed a piece may read everything, and one that has not may touch `claim` alone, even if the
// command was reused meanwhile.
#pragma once

#include "backends/api/rect_parts.hpp"
#include "backends/api/timeline.hpp"
#include "codegen/llvm/kernel_abi.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace volley::backends::cpu {

class CpuProgram;

enum class CommandKind : std::uint8_t { Launch, Copy, Fill, Call, Wait };

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
    backend::RectMove move;           // a fill's has no `from`
    backend::Rect most;               // of a piece, in each direction; of a row whole patterns
    std::uint64_t pattern = 0;        // a fill's period
    bool streaming = false;           // more than the caches hold: go around them
};
void run_copy(const Transfer& transfer, std::uint32_t index);
void run_fill(const Transfer& transfer, std::uint32_t index);

/// Sets `most` so that there are about so many pieces of like size, and gives their number.
[[nodiscard]] std::uint32_t cut(Transfer& transfer, std::uint64_t pieces);

struct Command {
    static constexpr std::uint32_t workers_only = 0x8000'0000u;
    static constexpr std::size_t inline_bytes = 512;  // 16 buffers, or 16 values of 32 bytes

    std::atomic<std::uint32_t> claim{
        0};  // pieces that are left to claim; with workers_only, by workers alone
    std::atomic<std::uint32_t> finished{0};

    CommandKind kind = CommandKind::Launch;
    std::uint32_t pieces = 1;
    backend::Point point = 0;
    Command* next = nullptr;

    KernelRun kernel;
    Transfer transfer;
    std::function<void()> callback;
    backend::Timeline* awaited = nullptr;
    backend::Point awaited_point = 0;

    alignas(64)
        std::byte bytes[inline_bytes];  // arguments of a launch, a small transfer's data, a fill's pattern
    std::unique_ptr<std::byte[]> more_bytes;  // where these do not suffice

    /// Room for that many bytes, kept for the next use.
    [[nodiscard]] std::byte* reserve(std::size_t size);

private:
    std::size_t more_size_ = 0;
};

}  // namespace volley::backends::cpu
