// Host-visible memory in a ring, through which transfers and arguments go. Pieces are taken in order and
// freed when the point of their command has passed.
#pragma once

#include "backends/common/device_timeline.hpp"
#include "backends/common/host_commands.hpp"
#include "backends/common/ring.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

namespace volley::backends {

/// `BackendMemory` is a backend's Memory, constructed from its heap and a size. Not thread-safe: the queue's
/// lock guards it. The ring's memory is allocated at the first use.
template <class BackendMemory, class Heap>
class StagingRing {
public:
    using Lock = std::unique_lock<std::mutex>;

    /// A range of the ring, or memory of its own if the ring is full and waiting might never end.
    struct Piece {
        BackendMemory* memory = nullptr;
        std::uint64_t offset = 0;
        std::shared_ptr<BackendMemory> own;  // null: in the ring
    };

    /// For the queue with that timeline and host commands, which outlive the ring.
    StagingRing(std::shared_ptr<Heap> heap, std::uint64_t bytes, DeviceTimeline& timeline,
                const HostCommands& host_commands)
        : heap_(std::move(heap)), places_(bytes), timeline_(timeline), host_commands_(host_commands) {}

    /// Returns a piece, after waiting for the oldest ones to be freed if necessary; the lock is released
    /// meanwhile. A piece of the ring is in use once it is committed, and commit() must follow before the
    /// next take().
    [[nodiscard]] Piece take(Lock& lock, std::uint64_t bytes) {
        if (!memory_) memory_ = std::make_unique<BackendMemory>(heap_, places_.size());
        for (;;) {
            if (const auto at = places_.find(bytes)) return {memory_.get(), *at, nullptr};
            places_.pass(timeline_.completed());
            if (const auto at = places_.find(bytes)) return {memory_.get(), *at, nullptr};
            const Point oldest = places_.oldest();
            // A pending host command may depend on the calling thread.
            if (bytes > places_.size() || !host_commands_.empty() || oldest == 0) break;
            lock.unlock();
            timeline_.await(oldest, DeviceTimeline::forever);
            lock.lock();
            timeline_.check_lost();
        }
        auto own = std::make_shared<BackendMemory>(heap_, bytes);
        BackendMemory* memory = own.get();
        return {memory, 0, std::move(own)};
    }

    /// The piece that take() returned last is in use until `point`.
    void commit(const Piece& piece, Point point) noexcept {
        if (!piece.own) places_.commit(point);
    }

private:
    std::shared_ptr<Heap> heap_;
    std::unique_ptr<BackendMemory> memory_;
    Ring places_;
    DeviceTimeline& timeline_;
    const HostCommands& host_commands_;
};

}  // namespace volley::backends
