// Host-visible memory in a ring, through which transfers and arguments go. Pieces are taken in order and
// freed when the point of their command has passed.
#pragma once

#include "backends/api/rect_parts.hpp"
#include "backends/common/device_timeline.hpp"
#include "backends/common/host_commands.hpp"
#include "backends/common/host_rect.hpp"
#include "backends/common/ring.hpp"

#include <cstddef>
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

        [[nodiscard]] std::byte* bytes() const noexcept { return memory->mapped() + offset; }
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

    /// Copies rows from the host in dense parts of at most `chunk` bytes. For each part it calls make_room()
    /// and, with the part's bytes in staging memory, submit(piece, part), which returns the command's point.
    /// Returns the last point, or `point` if there is no part.
    template <class MakeRoom, class Submit>
    Point write(Lock& lock, const std::byte* from, const RectMove& move, std::uint64_t chunk, Point point,
                MakeRoom&& make_room, Submit&& submit) {
        for_each_part(move.rect, part_of(move.rect, chunk), [&](const RectPart& part) {
            make_room();
            const Piece piece = take(lock, part.rect.bytes());
            copy_rows(piece.bytes(), from, {part.rect, dense(part.rect), part.in(move.from)});
            point = submit(piece, part);
            commit(piece, point);
        });
        return point;
    }

    /// Copies rows to the host likewise: submit(piece, part, epilogue) copies a part to staging memory, and
    /// the epilogue copies it to the caller's memory. If it throws, no thread writes to that memory later.
    template <class MakeRoom, class Submit>
    Point read(Lock& lock, std::byte* to, const RectMove& move, std::uint64_t chunk, Point point,
               MakeRoom&& make_room, Submit&& submit) {
        Point first = 0;
        try {
            for_each_part(move.rect, part_of(move.rect, chunk), [&](const RectPart& part) {
                make_room();
                const Piece piece = take(lock, part.rect.bytes());
                Epilogue epilogue;
                epilogue.from = piece.bytes();
                epilogue.to = to;
                epilogue.to_at = part.in(move.to);
                epilogue.rect = part.rect;
                epilogue.read = first != 0 ? first : timeline_.last() + 1;
                epilogue.staging = piece.own;
                point = submit(piece, part, epilogue);
                if (first == 0) first = point;
                commit(piece, point);
            });
        } catch (...) {
            // The caller gets no point until which to keep `to` valid.
            if (first != 0) timeline_.abandon_read(first);
            throw;
        }
        return point;
    }

private:
    std::shared_ptr<Heap> heap_;
    std::unique_ptr<BackendMemory> memory_;
    Ring places_;
    DeviceTimeline& timeline_;
    const HostCommands& host_commands_;
};

}  // namespace volley::backends
