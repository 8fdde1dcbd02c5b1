// The queue's transfers: all are rows, cut into pieces like kernels. What is small and finds the queue idle
// is done by the calling thread.
#include "backends/api/host_rect.hpp"
#include "backends/cpu/cpu_queue.hpp"
#include "core/fail.hpp"

#include <cstring>

namespace volley::backends::cpu {

using backend::Memory;
using backend::Point;
using backend::Rect;
using backend::RectPlace;

namespace {

constexpr std::uint64_t small_copy = 256 * 1024;  // bytes that the calling thread moves itself
constexpr std::uint64_t staged_copy = 64 * 1024;  // bytes that a busy queue copies aside instead of waiting
constexpr std::uint64_t row_bytes = 16;           // that could be moved in the time that a row costs

/// What rows are to become of which: fewer and longer ones where they touch.
Transfer copying(std::byte* to, const RectPlace& to_at, const std::byte* from, const RectPlace& from_at,
                 const Rect& rect) {
    Transfer transfer;
    transfer.to = to;
    transfer.from = from;
    transfer.move = backend::joined({rect, to_at, from_at});
    return transfer;
}

}  // namespace

Point CpuQueue::transfer(Transfer transfer, CommandKind kind) {
    const Rect& rect = transfer.move.rect;
    if (rect.row == 0) return last();
    transfer.streaming = rect.bytes() >= backend::large_copy;
    transfer.most = rect;
    // A row costs its bytes and a little.
    const bool small = rect.bytes() + row_bytes * rect.rows() <= small_copy || pool_->workers() == 0;
    std::unique_lock lock(mutex_);
    if (idle() && small) {
        return run_here([&] { kind == CommandKind::Copy ? run_copy(transfer, 0) : run_fill(transfer, 0); });
    }
    lock.unlock();
    make_room();
    lock.lock();
    Command* command = take_free();
    command->kind = kind;
    // Four pieces a thread even out what the other threads do.
    command->pieces = small ? 1 : cut(transfer, std::uint64_t{4} * pool_->threads());
    if (kind == CommandKind::Fill) {
        std::byte* pattern = command->reserve(transfer.pattern);
        std::memcpy(pattern, transfer.from, transfer.pattern);
        transfer.from = pattern;
    }
    command->transfer = transfer;
    return submit(command, lock);
}

Point CpuQueue::write_rect(Memory& to, const RectPlace& at, const std::byte* data, const RectPlace& data_at,
                           const Rect& rect) {
    const Transfer wanted = copying(to.host(), at, data, data_at, rect);
    if (rect.bytes() <= staged_copy && rect.row != 0) {
        std::unique_lock lock(mutex_);
        if (!idle()) {
            Command* command = take_free();
            command->kind = CommandKind::Copy;
            command->pieces = 1;
            std::byte* aside = command->reserve(rect.bytes());
            backend::copy_rows(aside, backend::dense(rect), data, data_at, rect);
            command->transfer = copying(to.host(), at, aside, backend::dense(rect), rect);
            command->transfer.most = command->transfer.move.rect;
            return submit(command, lock);
        }
    }
    const Point point = transfer(wanted, CommandKind::Copy);
    help_until(point, forever);  // the caller's bytes are in use until then
    return point;
}

Point CpuQueue::read_rect(const Memory& from, const RectPlace& at, std::byte* data, const RectPlace& data_at,
                          const Rect& rect) {
    return transfer(copying(data, data_at, from.host(), at, rect), CommandKind::Copy);
}

Point CpuQueue::copy_rect(Memory& to, const RectPlace& to_at, const Memory& from, const RectPlace& from_at,
                          const Rect& rect) {
    return transfer(copying(to.host(), to_at, from.host(), from_at, rect), CommandKind::Copy);
}

Point CpuQueue::fill_rect(Memory& to, const RectPlace& at, const Rect& rect,
                          std::span<const std::byte> pattern) {
    if (pattern.empty()) fail_internal("a fill needs a pattern");
    Transfer wanted = copying(to.host(), at, pattern.data(), at, rect);  // rows that touch are one
    wanted.move.from = {};
    wanted.pattern = pattern.size();
    return transfer(wanted, CommandKind::Fill);
}

Point CpuQueue::write(Memory& to, std::uint64_t offset, std::span<const std::byte> data) {
    return write_rect(to, {offset, {}}, data.data(), {}, {data.size(), {1, 1}});
}

Point CpuQueue::read(const Memory& from, std::uint64_t offset, std::span<std::byte> data) {
    return read_rect(from, {offset, {}}, data.data(), {}, {data.size(), {1, 1}});
}

Point CpuQueue::copy(Memory& to, std::uint64_t to_offset, const Memory& from, std::uint64_t from_offset,
                     std::uint64_t bytes) {
    return copy_rect(to, {to_offset, {}}, from, {from_offset, {}}, {bytes, {1, 1}});
}

Point CpuQueue::fill(Memory& to, std::uint64_t offset, std::uint64_t bytes,
                     std::span<const std::byte> pattern) {
    return fill_rect(to, {offset, {}}, {bytes, {1, 1}}, pattern);
}

}  // namespace volley::backends::cpu
