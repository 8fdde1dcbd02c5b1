// Rows that lie apart. The device moves long rows as regions of a copy, and many short ones by a kernel
// (backends/api/rect_kernel.hpp); what comes from the host or goes there lies densely in the staging ring.
// Where the host can address the memory and the queue is idle, it moves them itself.
#include "backends/api/host_rect.hpp"
#include "backends/api/pattern.hpp"
#include "backends/api/rect_parts.hpp"
#include "backends/vulkan/vulkan_queue.hpp"
#include "backends/vulkan/vulkan_transfer.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace volley::backends::vulkan {

using backend::Point;
using backend::Rect;
using backend::RectMove;
using backend::RectPart;
using backend::RectPlace;

namespace {

constexpr std::size_t region_batch = 256;  // regions of one call
constexpr std::uint64_t few_rows = 64;     // that are regions whatever their length
// Bytes of a row that is worth a region. A driver on the host's cores copies one in half a microsecond, and
// needs as long for a handful of invocations.
constexpr std::uint64_t long_row = 4096, long_row_software = 128;

bool by_regions(const Rect& rect, bool software) {
    return rect.rows() <= few_rows || rect.row >= (software ? long_row_software : long_row);
}

template <class F>
void for_each_row(const Rect& rect, F&& f) {
    for (std::uint64_t plane = 0; plane < rect.count[1]; ++plane) {
        for (std::uint64_t row = 0; row < rect.count[0]; ++row) f(row, plane);
    }
}

std::uint64_t start_of(const RectPlace& place, std::uint64_t row, std::uint64_t plane) {
    return place.offset + row * place.stride[0] + plane * place.stride[1];
}

bool is_in_words(const RectPlace& at, const Rect& rect, std::uint64_t offset) {
    return ((at.offset + offset) | at.stride[0] | at.stride[1] | rect.row) % 4 == 0;
}

std::uint64_t parts_in(const Rect& rect, const Rect& most) {
    const auto ceil_div = [](std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; };
    return ceil_div(rect.row, most.row) * ceil_div(rect.count[0], most.count[0]) *
           ceil_div(rect.count[1], most.count[1]);
}

}  // namespace

bool VulkanQueue::suits_host(const RectMove& move) const noexcept {
    // Short rows take a driver on the host's own cores twenty times as long as the calling thread.
    return move.rect.bytes() <= small_bytes ||
           (is_software() && !by_regions(backend::joined(move).rect, true));
}

void VulkanQueue::record_rect(VkCommandBuffer buffer, VulkanMemory& to, const VulkanMemory& from,
                              const RectMove& wanted) {
    const RectMove move = backend::joined(wanted);
    if (!by_regions(move.rect, is_software())) {
        const std::uint32_t word = backend::word_of(move, to.address(), from.address());
        backend::Program& program = rects_->of(word);
        backend::for_each_part(move.rect, backend::rect_launch_limit(move, word), [&](const RectPart& part) {
            const backend::RectLaunch rows(program, word, to, from,
                                           {part.rect, part.in(move.to), part.in(move.from)});
            record_launch(buffer, rows.launch());
        });
        return;
    }
    std::array<VkBufferCopy, region_batch> regions;
    std::uint32_t count = 0;
    const auto flush = [&] {
        if (count != 0)
            device_->vk.vkCmdCopyBuffer(buffer, from.buffer(), to.buffer(), count, regions.data());
        count = 0;
    };
    for_each_row(move.rect, [&](std::uint64_t row, std::uint64_t plane) {
        regions[count++] = {from.offset() + start_of(move.from, row, plane),
                            to.offset() + start_of(move.to, row, plane), move.rect.row};
        if (count == regions.size()) flush();
    });
    flush();
}

Point VulkanQueue::write_rect(backend::Memory& to, const RectPlace& at, const std::byte* data,
                              const RectPlace& data_at, const Rect& rect) {
    Lock lock(mutex_);
    device_->check_lost();
    VulkanMemory& memory = of(to);
    if (memory.mapped() != nullptr && idle()) {
        backend::copy_rows(memory.mapped(), at, data, data_at, rect);
        return last();
    }
    Point point = last();
    backend::for_each_part(rect, backend::part_of(rect, options_.chunk_bytes), [&](const RectPart& part) {
        make_room(lock);
        Staging staging = stage(lock, part.rect.bytes());
        backend::copy_rows(staging.mapped, backend::dense(part.rect), data, part.in(data_at), part.rect);
        const bool in_ring = staging.own == nullptr;
        const VulkanMemory& from = *staging.memory;
        point = submit_recorded(
            [&](VkCommandBuffer buffer) {
                record_rect(buffer, memory, from,
                            {part.rect, part.in(at), backend::dense(part.rect, staging.offset)});
            },
            std::move(staging.own));
        if (in_ring) staging_->places.commit(point);
    });
    return point;
}

Point VulkanQueue::read_rect(const backend::Memory& from, const RectPlace& at, std::byte* data,
                             const RectPlace& data_at, const Rect& rect) {
    Lock lock(mutex_);
    device_->check_lost();
    const VulkanMemory& memory = of(from);
    if (memory.host() != nullptr && idle()) {
        backend::copy_rows(data, data_at, memory.host(), at, rect);
        return last();
    }
    Point point = last();
    backend::for_each_part(rect, backend::part_of(rect, options_.chunk_bytes), [&](const RectPart& part) {
        make_room(lock);
        Staging staging = stage(lock, part.rect.bytes());
        const bool in_ring = staging.own == nullptr;
        VulkanMemory& home = *staging.memory;
        backend::Epilogue epilogue;
        epilogue.from = staging.mapped;
        epilogue.to = data;
        epilogue.to_at = part.in(data_at);
        epilogue.rect = part.rect;
        epilogue.staging = std::move(staging.own);
        point = submit_recorded(
            [&](VkCommandBuffer buffer) {
                record_rect(buffer, home, memory,
                            {part.rect, backend::dense(part.rect, staging.offset), part.in(at)});
            },
            nullptr, &epilogue);
        if (in_ring) staging_->places.commit(point);
    });
    return point;
}

Point VulkanQueue::copy_rect(backend::Memory& to, const RectPlace& to_at, const backend::Memory& from,
                             const RectPlace& from_at, const Rect& rect) {
    Lock lock(mutex_);
    device_->check_lost();
    if (suits_host({rect, to_at, from_at}) && from.host() != nullptr && of(to).mapped() != nullptr &&
        idle()) {
        backend::copy_rows(of(to).mapped(), to_at, from.host(), from_at, rect);
        return last();
    }
    make_room(lock);
    return submit_recorded([&](VkCommandBuffer buffer) {
        record_rect(buffer, of(to), of(from), {rect, to_at, from_at});
    });
}

Point VulkanQueue::fill_rect(backend::Memory& to, const RectPlace& at, const Rect& wanted,
                             std::span<const std::byte> pattern) {
    if (pattern.empty()) fail_internal("a fill needs a pattern");
    // Rows that touch are one: the pattern divides them.
    const RectMove move = backend::joined({wanted, at, at});
    const Rect& rect = move.rect;
    if (rect.rows() == 1) return fill(to, move.to.offset, rect.row, pattern);
    Lock lock(mutex_);
    device_->check_lost();
    VulkanMemory& memory = of(to);
    if (suits_host(move) && memory.host() != nullptr && idle()) {
        backend::fill_rows(memory.host(), move.to, rect, pattern);
        return last();
    }
    const std::optional<std::uint32_t> word = backend::as_word(pattern);
    if (word && by_regions(rect, is_software()) && is_in_words(move.to, rect, memory.offset())) {
        make_room(lock);
        return submit_recorded([&](VkCommandBuffer buffer) {
            for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
                device_->vk.vkCmdFillBuffer(buffer, memory.buffer(),
                                            memory.offset() + start_of(move.to, row, plane), rect.row, *word);
            });
        });
    }
    // Some whole patterns from the host, which the device copies into every row, as often as it takes.
    const std::vector<std::byte> seed = backend::seed_of(pattern, rect.row);
    make_room(lock);
    Staging staging = stage(lock, seed.size());
    std::copy(seed.begin(), seed.end(), staging.mapped);
    const bool in_ring = staging.own == nullptr;
    const VulkanMemory& from = *staging.memory;
    const Point point = submit_recorded(
        [&](VkCommandBuffer buffer) {
            backend::for_each_part(rect, {seed.size(), rect.count}, [&](const RectPart& part) {
                record_rect(buffer, memory, from, {part.rect, part.in(move.to), {staging.offset, {0, 0}}});
            });
        },
        std::move(staging.own));
    if (in_ring) staging_->places.commit(point);
    return point;
}

std::uint64_t VulkanQueue::rect_calls(const RectPlace& to, const RectPlace& from,
                                      const Rect& rect) const noexcept {
    const RectMove move = backend::joined({rect, to, from});
    if (by_regions(move.rect, is_software())) return (move.rect.rows() + region_batch - 1) / region_batch;
    // Memory begins at a multiple of the largest word.
    return parts_in(move.rect, backend::rect_launch_limit(move, backend::word_of(move, 0, 0)));
}

}  // namespace volley::backends::vulkan
