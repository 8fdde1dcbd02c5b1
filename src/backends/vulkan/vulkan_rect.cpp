// The queue's transfers of rows that lie apart. What comes from the host or goes there lies densely in the
// staging ring. Where the host can address the memory and the queue is idle, it moves them itself.
#include "backends/api/rect_parts.hpp"
#include "backends/common/host_rect.hpp"
#include "backends/vulkan/vulkan_queue.hpp"
#include "backends/vulkan/vulkan_transfer.hpp"
#include "core/fail.hpp"

#include <utility>

namespace volley::backends::vulkan {

using backends::Point;
using backends::Rect;
using backends::RectMove;
using backends::RectPart;
using backends::RectPlace;

namespace {

constexpr std::uint64_t long_row_on_host = 64 * 1024;  // whose copy takes many times what asking for it does

}  // namespace

bool VulkanQueue::suits_host(const RectMove& move) const noexcept {
    if (move.rect.bytes() <= small_bytes) return true;
    if (!is_software()) return false;
    // Rows take a driver on the host's own cores longer than the calling thread: short ones twenty times as
    // long, and half a microsecond more for each of the others.
    const Rect rect = backends::joined(move).rect;
    return rect.rows() > 1 && rect.row < long_row_on_host;
}

Point VulkanQueue::write_rect(backends::Memory& to, const RectPlace& at, const std::byte* data,
                              const RectPlace& data_at, const Rect& rect) {
    Lock lock(mutex_);
    device_->check_lost();
    VulkanMemory& memory = of(to);
    if (memory.mapped() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::copy_rows(memory.mapped(), at, data, data_at, rect);
        return last();
    }
    Point point = last();
    backends::for_each_part(rect, backends::part_of(rect, options_.chunk_bytes), [&](const RectPart& part) {
        make_room(lock);
        Staging staging = stage(lock, part.rect.bytes());
        backends::copy_rows(staging.mapped, backends::dense(part.rect), data, part.in(data_at), part.rect);
        const bool in_ring = staging.own == nullptr;
        const VulkanMemory& from = *staging.memory;
        point = submit_recorded(
            [&](Recorder& record) {
                record.copy(memory, from,
                            {part.rect, part.in(at), backends::dense(part.rect, staging.offset)});
            },
            std::move(staging.own));
        if (in_ring) staging_->places.commit(point);
    });
    return point;
}

Point VulkanQueue::read_rect(const backends::Memory& from, const RectPlace& at, std::byte* data,
                             const RectPlace& data_at, const Rect& rect) {
    Lock lock(mutex_);
    device_->check_lost();
    const VulkanMemory& memory = of(from);
    if (memory.host() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::copy_rows(data, data_at, memory.host(), at, rect);
        return last();
    }
    return read_staged(lock, memory, at, data, data_at, rect);
}

Point VulkanQueue::read_staged(Lock& lock, const VulkanMemory& from, const RectPlace& at, std::byte* data,
                               const RectPlace& data_at, const Rect& rect) {
    Point point = last();
    Point first = 0;
    const auto read_part = [&](const RectPart& part) {
        make_room(lock);
        Staging staging = stage(lock, part.rect.bytes());
        const bool in_ring = staging.own == nullptr;
        VulkanMemory& home = *staging.memory;
        backends::Epilogue epilogue;
        epilogue.from = staging.mapped;
        epilogue.to = data;
        epilogue.to_at = part.in(data_at);
        epilogue.rect = part.rect;
        epilogue.read = first != 0 ? first : timeline_.last() + 1;
        epilogue.staging = std::move(staging.own);
        point = submit_recorded(
            [&](Recorder& record) {
                record.copy(home, from, {part.rect, backends::dense(part.rect, staging.offset), part.in(at)});
            },
            nullptr, &epilogue);
        if (first == 0) first = point;
        if (in_ring) staging_->places.commit(point);
    };
    try {
        backends::for_each_part(rect, backends::part_of(rect, options_.chunk_bytes), read_part);
    } catch (...) {
        // The caller gets no point to keep the memory until.
        if (first != 0) timeline_.abandon_read(first);
        throw;
    }
    return point;
}

Point VulkanQueue::copy_rect(backends::Memory& to, const RectPlace& to_at, const backends::Memory& from,
                             const RectPlace& from_at, const Rect& rect) {
    Lock lock(mutex_);
    device_->check_lost();
    if (suits_host({rect, to_at, from_at}) && from.host() != nullptr && of(to).mapped() != nullptr &&
        idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::copy_rows(of(to).mapped(), to_at, from.host(), from_at, rect);
        return last();
    }
    make_room(lock);
    return submit_recorded([&](Recorder& record) { record.copy(of(to), of(from), {rect, to_at, from_at}); });
}

Point VulkanQueue::fill_rect(backends::Memory& to, const RectPlace& at, const Rect& wanted,
                             std::span<const std::byte> pattern) {
    if (pattern.empty()) fail_internal("a fill needs a pattern");
    // Rows that touch are one: the pattern divides them.
    const RectMove move = backends::joined({wanted, at, at});
    const Rect& rect = move.rect;
    if (rect.rows() == 1) return fill(to, move.to.offset, rect.row, pattern);
    Lock lock(mutex_);
    device_->check_lost();
    VulkanMemory& memory = of(to);
    if (suits_host(move) && memory.host() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::fill_rows(memory.host(), move.to, rect, pattern);
        return last();
    }
    return fill_joined(lock, memory, move, pattern);
}

std::uint64_t VulkanQueue::rect_calls(const RectPlace& to, const RectPlace& from,
                                      const Rect& rect) const noexcept {
    return calls_for(backends::joined({rect, to, from}), is_software());
}

}  // namespace volley::backends::vulkan
