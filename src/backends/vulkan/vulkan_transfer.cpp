// The queue's transfers. If the host can address the memory and the queue is idle, the calling thread moves
// the rows. Otherwise they go through the staging ring in dense chunks: the device copies one while the host
// fills or empties another.
#include "backends/vulkan/vulkan_transfer.hpp"

#include "backends/api/rect_parts.hpp"
#include "backends/common/host_rect.hpp"
#include "backends/common/pattern.hpp"
#include "backends/vulkan/vulkan_queue.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace volley::backends::vulkan {

namespace {

constexpr std::uint64_t small_bytes = 256 * 1024;      // moved by the calling thread
constexpr std::uint64_t long_row_on_host = 64 * 1024;  // from here the copy outweighs the cost of a command

}  // namespace

bool VulkanQueue::suits_host(const RectMove& move) const noexcept {
    if (move.rect.bytes() <= small_bytes) return true;
    if (!is_software()) return false;
    // A driver on the host's own cores is slower than the calling thread: twenty times for short rows, and by
    // half a microsecond for each other row.
    const Rect rect = backends::joined(move).rect;
    return rect.rows() > 1 && rect.row < long_row_on_host;
}

Point VulkanQueue::write_staged(Lock& lock, VulkanMemory& to, const std::byte* from, const RectMove& move) {
    return staging_.write(
        lock, from, move, options_.chunk_bytes, last(), [&] { make_room(lock); },
        [&](const StagingRing::Piece& piece, const RectPart& part) {
            const RectPlace staged_at = backends::dense(part.rect, piece.offset);
            return submit_recorded(
                [&](CommandRecorder& record) {
                    record.copy(to, *piece.memory, {part.rect, part.in(move.to), staged_at});
                },
                piece.own);
        });
}

Point VulkanQueue::read_staged(Lock& lock, std::byte* to, const VulkanMemory& from, const RectMove& move) {
    return staging_.read(
        lock, to, move, options_.chunk_bytes, last(), [&] { make_room(lock); },
        [&](const StagingRing::Piece& piece, const RectPart& part, backends::Epilogue& epilogue) {
            const RectPlace staged_at = backends::dense(part.rect, piece.offset);
            return submit_recorded(
                [&](CommandRecorder& record) {
                    record.copy(*piece.memory, from, {part.rect, staged_at, part.in(move.from)});
                },
                nullptr, &epilogue);
        });
}

Point VulkanQueue::write(backends::Memory& to, const std::byte* from, const RectMove& move) {
    Lock lock(mutex_);
    device_->check_lost();
    if (move.rect.row == 0) return last();
    return write_now(lock, of(to), from, move);
}

Point VulkanQueue::write_now(Lock& lock, VulkanMemory& to, const std::byte* from, const RectMove& move) {
    if (to.mapped() == nullptr || !idle()) return write_staged(lock, to, from, move);
    const backends::TimedHere timed(&timeline_.times());
    backends::copy_rows(to.mapped(), from, move);
    return last();
}

Point VulkanQueue::copy_from_host(backends::Memory& to, const std::byte* from, const RectMove& move) {
    Lock lock(mutex_);
    device_->check_lost();
    if (move.rect.row == 0) return last();
    // Without pending host commands, everything that the bytes depend on has completed.
    if (host_commands_.empty()) return write_now(lock, of(to), from, move);
    const Point point =
        host_commands_.add([first = to.host(), from, move] { backends::copy_rows(first, from, move); });
    lock.unlock();
    host_commands_.wake();
    return point;
}

Point VulkanQueue::read(std::byte* to, const backends::Memory& from, const RectMove& move) {
    Lock lock(mutex_);
    device_->check_lost();
    if (move.rect.row == 0) return last();
    const VulkanMemory& memory = of(from);
    if (memory.host() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::copy_rows(to, memory.host(), move);
        return last();
    }
    return read_staged(lock, to, memory, move);
}

Point VulkanQueue::copy(backends::Memory& to, const backends::Memory& from, const RectMove& move) {
    Lock lock(mutex_);
    device_->check_lost();
    if (move.rect.row == 0) return last();
    if (suits_host(move) && from.host() != nullptr && of(to).mapped() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::copy_rows(of(to).mapped(), from.host(), move);
        return last();
    }
    make_room(lock);
    return submit_recorded([&](CommandRecorder& record) { record.copy(of(to), of(from), move); });
}

Point VulkanQueue::fill(backends::Memory& to, const RectPlace& at, const Rect& rect,
                        std::span<const std::byte> pattern) {
    if (pattern.empty()) fail_internal("a fill needs a pattern");
    Lock lock(mutex_);
    device_->check_lost();
    if (rect.row == 0) return last();
    // Adjacent rows become one: the pattern divides them.
    const RectMove move = backends::joined({rect, at, at});
    VulkanMemory& memory = of(to);
    if (suits_host(move) && memory.host() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::fill_rows(memory.host(), move.to, move.rect, pattern);
        return last();
    }
    return fill_joined(lock, memory, move, pattern);
}

Point VulkanQueue::fill_joined(Lock& lock, VulkanMemory& to, const RectMove& move,
                               std::span<const std::byte> pattern) {
    if (const auto word = fill_word(to, move, pattern, is_software())) {
        make_room(lock);
        return submit_recorded([&](CommandRecorder& record) { record.fill(to, move, *word); });
    }
    // The host writes some whole patterns, and the device repeats them by copying.
    const std::vector<std::byte> seed = backends::seed_of(pattern, move.rect.row);
    make_room(lock);
    const StagingRing::Piece piece = staging_.take(lock, seed.size());
    std::copy(seed.begin(), seed.end(), piece.bytes());
    const FillSeed from{piece.memory, piece.offset, seed.size()};
    const Point point =
        submit_recorded([&](CommandRecorder& record) { record.fill(to, move, from); }, piece.own);
    staging_.commit(piece, point);
    return point;
}

std::uint64_t VulkanQueue::driver_calls(const RectMove& move) const noexcept {
    return calls_for(backends::joined(move), is_software());
}

}  // namespace volley::backends::vulkan
