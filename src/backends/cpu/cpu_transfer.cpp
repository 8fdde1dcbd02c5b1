// The queue's transfers, divided into pieces like kernels. The calling thread does small ones if the queue is
// idle.
#include "backends/cpu/cpu_transfer.hpp"

#include "backends/common/host_rect.hpp"
#include "backends/cpu/cpu_launch.hpp"
#include "backends/cpu/cpu_queue.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <cstring>

namespace volley::backends::cpu {

namespace {

constexpr std::uint64_t small_copy = 256 * 1024;  // bytes moved in small_ns
constexpr std::uint64_t staged_copy = 64 * 1024;  // bytes that a busy queue copies aside instead of waiting
constexpr std::uint64_t row_bytes = 16;           // moved in the time that a row costs besides its bytes

}  // namespace

Transfer copying(std::byte* to, const std::byte* from, const RectMove& move) {
    Transfer transfer;
    transfer.to = to;
    transfer.from = from;
    transfer.move = backends::joined(move);
    transfer.most = transfer.move.rect;
    return transfer;
}

Transfer filling(std::byte* to, const RectPlace& at, const Rect& rect, std::span<const std::byte> pattern) {
    if (pattern.empty()) fail_internal("a fill needs a pattern");
    Transfer transfer = copying(to, pattern.data(), {rect, at, at});
    transfer.move.from = {};
    transfer.pattern = pattern.size();
    return transfer;
}

double estimated_ns(const Transfer& transfer) {
    const Rect& rect = transfer.move.rect;
    return static_cast<double>(rect.bytes() + row_bytes * rect.rows()) * (small_ns / small_copy);
}

bool is_small(const Transfer& transfer) { return estimated_ns(transfer) <= small_ns; }

std::uint32_t arrange(Transfer& transfer, unsigned threads) {
    transfer.streaming = transfer.move.rect.bytes() >= backends::large_copy();
    const double total = estimated_ns(transfer);
    if (is_small(transfer) || (threads == 1 && total <= slice_ns)) return 1;
    // Four pieces per thread even out differences between threads.
    const auto by_time = static_cast<std::uint64_t>(total / slice_ns);
    return cut(transfer, std::max(by_time, std::uint64_t{4} * threads));
}

Point CpuQueue::transfer(Transfer transfer, CpuCommandKind kind) {
    if (transfer.move.rect.row == 0) return last();
    const std::uint32_t pieces = arrange(transfer, timeline_.threads());
    CpuTimeline::Lock lock = timeline_.lock();
    if (!timeline_.idle() || !is_small(transfer)) {
        lock.unlock();
        timeline_.make_room();
        lock.lock();
    }
    return submit_transfer(transfer, kind, pieces, lock);
}

Point CpuQueue::submit_transfer(const Transfer& transfer, CpuCommandKind kind, std::uint32_t pieces,
                                CpuTimeline::Lock& lock) {
    if (timeline_.idle() && is_small(transfer)) {
        return timeline_.run_here([&] {
            const backends::TimedHere timed;
            kind == CpuCommandKind::Copy ? run_copy(transfer, 0) : run_fill(transfer, 0);
        });
    }
    CpuCommand* command = timeline_.take_free();
    command->kind = kind;
    command->pieces = pieces;
    command->brief = true;
    command->transfer = transfer;
    if (kind == CpuCommandKind::Fill) {
        std::byte* pattern = command->reserve(transfer.pattern);
        std::memcpy(pattern, transfer.from, transfer.pattern);
        command->transfer.from = pattern;
    }
    return timeline_.submit(command, lock);
}

Point CpuQueue::write(Memory& to, const std::byte* from, const RectMove& move) {
    Transfer direct = copying(to.host(), from, move);
    if (direct.move.rect.row == 0) return last();
    const std::uint32_t pieces = arrange(direct, timeline_.threads());
    const std::uint64_t bytes = direct.move.rect.bytes();
    CpuTimeline::Lock lock = timeline_.lock();
    // After a callback or a wait any amount is copied aside: they may depend on what the caller does next.
    if (!timeline_.idle() && (bytes <= staged_copy || timeline_.has_host_commands())) {
        CpuCommand* command = timeline_.take_free();
        lock.unlock();
        std::byte* aside = command->reserve(bytes);
        const RectPlace aside_at = backends::dense(move.rect);
        backends::copy_rows(aside, from, {move.rect, aside_at, move.from});
        command->kind = CpuCommandKind::Copy;
        command->transfer = copying(to.host(), aside, {move.rect, move.to, aside_at});
        command->pieces = arrange(command->transfer, timeline_.threads());
        command->brief = true;
        lock.lock();
        return timeline_.submit(command, lock);
    }
    const Point point = submit_transfer(direct, CpuCommandKind::Copy, pieces, lock);
    if (lock.owns_lock()) lock.unlock();
    timeline_.help_until(point, CpuTimeline::forever);  // the caller's bytes are in use until then
    return point;
}

Point CpuQueue::read(std::byte* to, const Memory& from, const RectMove& move) {
    return transfer(copying(to, from.host(), move), CpuCommandKind::Copy);
}

Point CpuQueue::copy(Memory& to, const Memory& from, const RectMove& move) {
    return transfer(copying(to.host(), from.host(), move), CpuCommandKind::Copy);
}

Point CpuQueue::copy_from_host(Memory& to, const std::byte* from, const RectMove& move) {
    return transfer(copying(to.host(), from, move), CpuCommandKind::Copy);
}

Point CpuQueue::fill(Memory& to, const RectPlace& at, const Rect& rect, std::span<const std::byte> pattern) {
    return transfer(filling(to.host(), at, rect, pattern), CpuCommandKind::Fill);
}

}  // namespace volley::backends::cpu
