// The queue's transfers. Where the host shares the memory and the queue is idle, it moves the bytes itself.
// Else they go through pinned memory in chunks, so that the device copies one while the host fills or empties
// another; only where the memory is shared the driver reads and writes the caller's own.
#include "backends/api/pattern.hpp"
#include "backends/opencl/opencl_queue.hpp"
#include "core/fail.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace volley::backends::opencl {

using backend::Point;

namespace {

constexpr std::uint64_t small_bytes = 256 * 1024;  // that the calling thread moves itself
constexpr std::size_t longest_pattern = 128;       // that the driver fills with

const OpenClMemory& of(const backend::Memory& memory) { return static_cast<const OpenClMemory&>(memory); }

}  // namespace

OpenClQueue::Staging OpenClQueue::stage(Lock& lock, std::uint64_t bytes) {
    if (!staging_) staging_ = std::make_unique<StagingRing>(host_, options_.staging_bytes);
    backend::Ring& places = staging_->places;
    for (;;) {
        if (const auto at = places.find(bytes)) return {staging_->memory.host() + *at, nullptr};
        places.pass(timeline_.completed());
        if (const auto at = places.find(bytes)) return {staging_->memory.host() + *at, nullptr};
        const Point oldest = places.oldest();
        if (bytes > places.size() || !host_commands_.empty() || oldest == 0) break;
        lock.unlock();
        timeline_.await(oldest, OpenClTimeline::forever);
        lock.lock();
        device_->check_lost();
    }
    auto own = std::make_shared<OpenClMemory>(host_, bytes);
    std::byte* first = own->host();
    return {first, std::move(own)};
}

Point OpenClQueue::write_staged(Lock& lock, const OpenClMemory& to, std::uint64_t offset,
                                std::span<const std::byte> data) {
    Point point = last();
    while (!data.empty()) {
        const std::uint64_t bytes = std::min<std::uint64_t>(data.size(), options_.chunk_bytes);
        make_room(lock);
        const Staging staging = stage(lock, bytes);
        std::memcpy(staging.bytes, data.data(), bytes);
        // Memory of its own lives until the command is done.
        backend::Epilogue epilogue;
        epilogue.staging = staging.own;
        point = submit(
            [this, buffer = to.buffer(), offset, bytes, from = staging.bytes](cl_event* event) {
                device_->check(device_->cl.EnqueueWriteBuffer(queue_.handle, buffer, CL_FALSE, offset, bytes,
                                                              from, 0, nullptr, event),
                               "clEnqueueWriteBuffer");
            },
            staging.own ? &epilogue : nullptr);
        if (!staging.own) staging_->places.commit(point);
        offset += bytes;
        data = data.subspan(bytes);
    }
    return point;
}

Point OpenClQueue::write(backend::Memory& to, std::uint64_t offset, std::span<const std::byte> data) {
    Lock lock(mutex_);
    device_->check_lost();
    if (data.empty()) return last();
    if (to.host() != nullptr && idle()) {
        std::memcpy(to.host() + offset, data.data(), data.size());
        return last();
    }
    return write_staged(lock, of(to), offset, data);
}

Point OpenClQueue::read(const backend::Memory& from, std::uint64_t offset, std::span<std::byte> data) {
    Lock lock(mutex_);
    device_->check_lost();
    if (data.empty()) return last();
    const OpenClMemory& memory = of(from);
    if (memory.host() != nullptr && idle()) {
        std::memcpy(data.data(), memory.host() + offset, data.size());
        return last();
    }
    const auto enqueue_read = [this, buffer = memory.buffer()](std::uint64_t at, std::uint64_t bytes,
                                                               std::byte* to, cl_event* event) {
        device_->check(
            device_->cl.EnqueueReadBuffer(queue_.handle, buffer, CL_FALSE, at, bytes, to, 0, nullptr, event),
            "clEnqueueReadBuffer");
    };
    if (memory.host() != nullptr) {
        make_room(lock);
        return submit([enqueue_read, offset, data](cl_event* event) {
            enqueue_read(offset, data.size(), data.data(), event);
        });
    }
    Point point = last();
    while (!data.empty()) {
        const std::uint64_t bytes = std::min<std::uint64_t>(data.size(), options_.chunk_bytes);
        make_room(lock);
        const Staging staging = stage(lock, bytes);
        backend::Epilogue epilogue;
        epilogue.from = staging.bytes;
        epilogue.to = data.data();
        epilogue.rect.row = bytes;
        epilogue.staging = staging.own;
        point = submit([enqueue_read, offset, bytes,
                        to = staging.bytes](cl_event* event) { enqueue_read(offset, bytes, to, event); },
                       &epilogue);
        if (!staging.own) staging_->places.commit(point);
        offset += bytes;
        data = data.subspan(bytes);
    }
    return point;
}

Point OpenClQueue::copy(backend::Memory& to, std::uint64_t to_offset, const backend::Memory& from,
                        std::uint64_t from_offset, std::uint64_t bytes) {
    Lock lock(mutex_);
    device_->check_lost();
    if (bytes == 0) return last();
    if (bytes <= small_bytes && from.host() != nullptr && to.host() != nullptr && idle()) {
        std::memcpy(to.host() + to_offset, from.host() + from_offset, bytes);
        return last();
    }
    make_room(lock);
    return submit([this, source = of(from).buffer(), target = of(to).buffer(), from_offset, to_offset,
                   bytes](cl_event* event) {
        device_->check(device_->cl.EnqueueCopyBuffer(queue_.handle, source, target, from_offset, to_offset,
                                                     bytes, 0, nullptr, event),
                       "clEnqueueCopyBuffer");
    });
}

Point OpenClQueue::fill(backend::Memory& to, std::uint64_t offset, std::uint64_t bytes,
                        std::span<const std::byte> pattern) {
    if (pattern.empty()) fail_internal("a fill needs a pattern");
    Lock lock(mutex_);
    device_->check_lost();
    if (bytes == 0) return last();
    const OpenClMemory& memory = of(to);
    if (bytes <= small_bytes && to.host() != nullptr && idle()) {
        backend::repeat(to.host() + offset, bytes, pattern);
        return last();
    }
    const std::size_t size = pattern.size();
    if (size <= longest_pattern && std::has_single_bit(size) && offset % size == 0 && bytes % size == 0) {
        make_room(lock);
        std::array<std::byte, longest_pattern> kept{};
        std::copy(pattern.begin(), pattern.end(), kept.begin());
        return submit([this, buffer = memory.buffer(), kept, size, offset, bytes](cl_event* event) {
            device_->check(device_->cl.EnqueueFillBuffer(queue_.handle, buffer, kept.data(), size, offset,
                                                         bytes, 0, nullptr, event),
                           "clEnqueueFillBuffer");
        });
    }
    // Some whole patterns from the host, then the device copies what is there behind itself.
    const std::vector<std::byte> seed = backend::seed_of(pattern, bytes);
    const Point written = write_staged(lock, memory, offset, seed);
    if (seed.size() == bytes) return written;
    make_room(lock);
    return copy_repeatedly(memory, offset, seed.size(), bytes);
}

Point OpenClQueue::copy_repeatedly(const OpenClMemory& memory, std::uint64_t offset, std::uint64_t seed,
                                   std::uint64_t bytes) {
    return submit([this, buffer = memory.buffer(), offset, seed, bytes](cl_event* event) {
        for (std::uint64_t done = seed; done < bytes;) {
            const std::uint64_t more = std::min(done, bytes - done);
            const bool is_last = done + more == bytes;
            device_->check(device_->cl.EnqueueCopyBuffer(queue_.handle, buffer, buffer, offset, offset + done,
                                                         more, 0, nullptr, is_last ? event : nullptr),
                           "clEnqueueCopyBuffer");
            done += more;
        }
    });
}

}  // namespace volley::backends::opencl
