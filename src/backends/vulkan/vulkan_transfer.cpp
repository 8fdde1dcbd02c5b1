// The queue's transfers. Where the host can address the memory and the queue is idle, it moves the bytes
// itself; else they go through the staging ring in chunks, so that the device copies one while the host fills
// or empties another.
#include "backends/vulkan/vulkan_transfer.hpp"

#include "backends/api/pattern.hpp"
#include "backends/api/stream_copy.hpp"
#include "backends/vulkan/vulkan_queue.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace volley::backends::vulkan {

using backend::Point;

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
        const VkBufferCopy region{from.offset() + staging.offset, to.offset() + offset, bytes};
        point = submit_recorded(
            [&](VkCommandBuffer buffer) {
                device_->vk.vkCmdCopyBuffer(buffer, from.buffer(), to.buffer(), 1, &region);
            },
            std::move(staging.own));
        if (in_ring) staging_->places.commit(point);
        offset += bytes;
        data = data.subspan(bytes);
    }
    return point;
}

Point VulkanQueue::write(backend::Memory& to, std::uint64_t offset, std::span<const std::byte> data) {
    Lock lock(mutex_);
    device_->check_lost();
    if (data.empty()) return last();
    VulkanMemory& memory = of(to);
    if (memory.mapped() != nullptr && idle()) {
        backend::copy_bytes(memory.mapped() + offset, data.data(), data.size());
        return last();
    }
    return write_staged(lock, memory, offset, data);
}

Point VulkanQueue::read(const backend::Memory& from, std::uint64_t offset, std::span<std::byte> data) {
    Lock lock(mutex_);
    device_->check_lost();
    if (data.empty()) return last();
    const VulkanMemory& memory = of(from);
    if (memory.host() != nullptr && idle()) {
        backend::copy_bytes(data.data(), memory.host() + offset, data.size());
        return last();
    }
    Point point = last();
    while (!data.empty()) {
        const std::uint64_t bytes = std::min<std::uint64_t>(data.size(), options_.chunk_bytes);
        make_room(lock);
        Staging staging = stage(lock, bytes);
        const bool in_ring = staging.own == nullptr;
        const VulkanMemory& home = *staging.memory;
        const VkBufferCopy region{memory.offset() + offset, home.offset() + staging.offset, bytes};
        backend::Epilogue epilogue;
        epilogue.from = staging.mapped;
        epilogue.to = data.data();
        epilogue.rect.row = bytes;
        epilogue.staging = std::move(staging.own);
        point = submit_recorded(
            [&](VkCommandBuffer buffer) {
                device_->vk.vkCmdCopyBuffer(buffer, memory.buffer(), home.buffer(), 1, &region);
            },
            nullptr, &epilogue);
        if (in_ring) staging_->places.commit(point);
        offset += bytes;
        data = data.subspan(bytes);
    }
    return point;
}

Point VulkanQueue::copy(backend::Memory& to, std::uint64_t to_offset, const backend::Memory& from,
                        std::uint64_t from_offset, std::uint64_t bytes) {
    Lock lock(mutex_);
    device_->check_lost();
    if (bytes == 0) return last();
    if (bytes <= small_bytes && from.host() != nullptr && of(to).mapped() != nullptr && idle()) {
        std::memcpy(of(to).mapped() + to_offset, from.host() + from_offset, bytes);
        return last();
    }
    make_room(lock);
    Command& command = begin();
    const VkBufferCopy region{of(from).offset() + from_offset, of(to).offset() + to_offset, bytes};
    device_->vk.vkCmdCopyBuffer(command.buffer, of(from).buffer(), of(to).buffer(), 1, &region);
    return submit(command);
}

Point VulkanQueue::fill(backend::Memory& to, std::uint64_t offset, std::uint64_t bytes,
                        std::span<const std::byte> pattern) {
    if (pattern.empty()) fail_internal("a fill needs a pattern");
    Lock lock(mutex_);
    device_->check_lost();
    if (bytes == 0) return last();
    VulkanMemory& memory = of(to);
    if (bytes <= small_bytes && memory.host() != nullptr && idle()) {
        backend::repeat(memory.host() + offset, bytes, pattern);
        return last();
    }
    VolkDeviceTable& vk = device_->vk;
    const std::uint64_t begin_at = memory.offset() + offset;
    const std::optional<std::uint32_t> word = backend::as_word(pattern);
    if (word && begin_at % 4 == 0 && bytes % 4 == 0) {
        make_room(lock);
        Command& command = begin();
        vk.vkCmdFillBuffer(command.buffer, memory.buffer(), begin_at, bytes, *word);
        return submit(command);
    }
    // Some whole patterns from the host, then the device copies what is there behind itself.
    const std::vector<std::byte> first = backend::seed_of(pattern, bytes);
    const std::uint64_t seed = first.size();
    const Point written = write_staged(lock, memory, offset, first);
    if (seed == bytes) return written;
    make_room(lock);
    Command& command = begin();
    for (std::uint64_t done = seed; done < bytes;) {
        if (done != seed) {
            auto barrier = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
            barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
            barrier.dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
            vk.vkCmdPipelineBarrier(command.buffer, VK_PIPELINE_STAGE_TRANSFER_BIT,
                                    VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
        }
        const VkBufferCopy region{begin_at, begin_at + done, std::min(done, bytes - done)};
        vk.vkCmdCopyBuffer(command.buffer, memory.buffer(), memory.buffer(), 1, &region);
        done += region.size;
    }
    return submit(command);
}

}  // namespace volley::backends::vulkan
