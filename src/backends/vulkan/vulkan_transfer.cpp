// The queue's transfers. Where the host can address the memory and the queue is idle, it moves the bytes
// itself; else they go through the staging ring in chunks, so that the device copies one while the host fills
// or empties another.
#include "backends/vulkan/vulkan_transfer.hpp"

#include "backends/common/pattern.hpp"
#include "backends/common/stream_copy.hpp"
#include "backends/vulkan/vulkan_queue.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace volley::backends::vulkan {

using backends::Point;

VulkanQueue::Staging VulkanQueue::stage(Lock& lock, std::uint64_t bytes) {
    if (!staging_) staging_ = std::make_unique<StagingRing>(host_, options_.staging_bytes);
    Staging staging;
    if (const std::uint64_t at = find_in(staging_->places, lock, bytes); at != nowhere) {
        staging.memory = &staging_->memory;
        staging.offset = at;
        staging.mapped = staging.memory->mapped() + at;
        return staging;
    }
    staging.own = std::make_unique<VulkanMemory>(host_, bytes);
    staging.memory = staging.own.get();
    staging.mapped = staging.own->mapped();
    return staging;
}

Point VulkanQueue::write_staged(Lock& lock, VulkanMemory& to, std::uint64_t offset,
                                std::span<const std::byte> data) {
    Point point = last();
    while (!data.empty()) {
        const std::uint64_t bytes = std::min<std::uint64_t>(data.size(), options_.chunk_bytes);
        make_room(lock);
        Staging staging = stage(lock, bytes);
        std::memcpy(staging.mapped, data.data(), bytes);
        const bool in_ring = staging.own == nullptr;
        const VulkanMemory& from = *staging.memory;
        point = submit_recorded(
            [&](Recorder& record) {
                record.copy(to, from, {{bytes}, {offset}, {staging.offset}});
            },
            std::move(staging.own));
        if (in_ring) staging_->places.commit(point);
        offset += bytes;
        data = data.subspan(bytes);
    }
    return point;
}

Point VulkanQueue::write(backends::Memory& to, std::uint64_t offset, std::span<const std::byte> data) {
    Lock lock(mutex_);
    device_->check_lost();
    if (data.empty()) return last();
    VulkanMemory& memory = of(to);
    if (memory.mapped() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::copy_bytes(memory.mapped() + offset, data.data(), data.size());
        return last();
    }
    return write_staged(lock, memory, offset, data);
}

Point VulkanQueue::read(const backends::Memory& from, std::uint64_t offset, std::span<std::byte> data) {
    Lock lock(mutex_);
    device_->check_lost();
    if (data.empty()) return last();
    const VulkanMemory& memory = of(from);
    if (memory.host() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::copy_bytes(data.data(), memory.host() + offset, data.size());
        return last();
    }
    return read_staged(lock, memory, {offset, {}}, data.data(), {}, {data.size(), {1, 1}});
}

Point VulkanQueue::copy(backends::Memory& to, std::uint64_t to_offset, const backends::Memory& from,
                        std::uint64_t from_offset, std::uint64_t bytes) {
    Lock lock(mutex_);
    device_->check_lost();
    if (bytes == 0) return last();
    if (bytes <= small_bytes && from.host() != nullptr && of(to).mapped() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        std::memcpy(of(to).mapped() + to_offset, from.host() + from_offset, bytes);
        return last();
    }
    make_room(lock);
    return submit_recorded([&](Recorder& record) {
        record.copy(of(to), of(from), {{bytes}, {to_offset}, {from_offset}});
    });
}

Point VulkanQueue::fill(backends::Memory& to, std::uint64_t offset, std::uint64_t bytes,
                        std::span<const std::byte> pattern) {
    if (pattern.empty()) fail_internal("a fill needs a pattern");
    Lock lock(mutex_);
    device_->check_lost();
    if (bytes == 0) return last();
    VulkanMemory& memory = of(to);
    if (bytes <= small_bytes && memory.host() != nullptr && idle()) {
        const backends::TimedHere timed(&timeline_.times());
        backends::repeat(memory.host() + offset, bytes, pattern);
        return last();
    }
    return fill_joined(lock, memory, {{bytes}, {offset}, {offset}}, pattern);
}

Point VulkanQueue::fill_joined(Lock& lock, VulkanMemory& to, const backends::RectMove& move,
                               std::span<const std::byte> pattern) {
    if (const auto word = fill_word(to, move, pattern, is_software())) {
        make_room(lock);
        return submit_recorded([&](Recorder& record) { record.fill(to, move, *word); });
    }
    // Some whole patterns from the host, which the device copies as often as it takes.
    const std::vector<std::byte> seed = backends::seed_of(pattern, move.rect.row);
    make_room(lock);
    Staging staging = stage(lock, seed.size());
    std::copy(seed.begin(), seed.end(), staging.mapped);
    const bool in_ring = staging.own == nullptr;
    const FillSeed from{staging.memory, staging.offset, seed.size()};
    const Point point =
        submit_recorded([&](Recorder& record) { record.fill(to, move, from); }, std::move(staging.own));
    if (in_ring) staging_->places.commit(point);
    return point;
}

}  // namespace volley::backends::vulkan
