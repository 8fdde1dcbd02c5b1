// Moving elements between arrays: host and device, device and device. Each transfer is planned first (which
// rows, in how many commands), and the plan that is followed is the one that transfer_plan() tells.
#pragma once

#include "backends/api/queue.hpp"
#include "core/layout.hpp"
#include "runtime/context_core.hpp"
#include "runtime/hazards.hpp"
#include "runtime/transfer_counters.hpp"

#include <volley/any_buffer.hpp>
#include <volley/region.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace volley::runtime {

class TimedCommand;

/// Rows to move, and how.
struct Moves {
    Rows rows;
    TransferPath path = TransferPath::None;
    [[nodiscard]] bool empty() const noexcept { return path == TransferPath::None; }
    [[nodiscard]] bool whole() const noexcept { return path == TransferPath::Whole; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(rows.bytes()); }
};

/// How to move one array onto another of the same shape. With `with_padding` the bytes between the elements
/// may be moved along, so that arrays with the same strides are one piece.
[[nodiscard]] Moves plan_moves(const Layout& to, const Layout& from, std::int64_t element, bool with_padding);
/// How to write to all of one array.
[[nodiscard]] Moves plan_fill(const Layout& to, std::int64_t element, bool with_padding);

/// The array that a buffer is.
[[nodiscard]] inline Layout layout_of(const AnyBuffer& buffer) {
    return {static_cast<std::int64_t>(buffer.offset()), buffer.shape(), buffer.strides()};
}

/// How to copy one buffer's elements to another. Throws ArgumentError where types or shapes differ, or the
/// two overlap, WrongContext.
[[nodiscard]] Moves plan_copy(const AnyBuffer& to, const AnyBuffer& from);
[[nodiscard]] Moves plan_fill(const AnyBuffer& to);

/// The bytes of its storage that a command with the buffer may touch.
[[nodiscard]] inline Range bytes_of(const AnyBuffer& buffer) noexcept {
    return {buffer.offset(), buffer.offset() + buffer.window_bytes()};
}

[[nodiscard]] inline std::int64_t element_of(const AnyBuffer& buffer) {
    return static_cast<std::int64_t>(buffer.dtype().size());
}
/// The host's array, checked against the buffer. Throws ArgumentError (TypeMismatch, SizeMismatch,
/// InvalidArgument).
[[nodiscard]] Layout host_layout(const detail::HostSide& host, const AnyBuffer& buffer,
                                 std::string_view doing);
/// How many calls of the driver they take.
[[nodiscard]] std::uint64_t calls_of(const backends::Queue& queue, const Moves& moves);
/// The page-locked memory of a host array, where the queue's device made it.
[[nodiscard]] backends::Memory* pinned_memory(const detail::HostSide& host, const ContextCore& core,
                                              unsigned k);

/// Calls f(to, from, rect) for each command that moves at most three dimensions of the rows.
template <class F>
void for_each_rect(const Rows& rows, F&& f) {
    using backends::Rect;
    using backends::RectPlace;
    const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    Rect rect;
    RectPlace to;
    RectPlace from;
    rect.row = size(rows.row);
    for (std::size_t d = 0; d < 2 && static_cast<int>(d) < rows.rank; ++d) {
        rect.count[d] = size(rows.count[d]);
        to.stride[d] = size(rows.to_stride[d]);
        from.stride[d] = size(rows.from_stride[d]);
    }
    std::array<std::int64_t, max_rank> index{};  // of the axes that are looped over
    for (;;) {
        std::int64_t to_offset = rows.to_offset;
        std::int64_t from_offset = rows.from_offset;
        for (std::size_t d = 2; static_cast<int>(d) < rows.rank; ++d) {
            to_offset += index[d] * rows.to_stride[d];
            from_offset += index[d] * rows.from_stride[d];
        }
        to.offset = size(to_offset);
        from.offset = size(from_offset);
        f(to, from, rect);
        std::size_t d = 2;
        while (static_cast<int>(d) < rows.rank && ++index[d] == rows.count[d]) index[d++] = 0;
        if (static_cast<int>(d) >= rows.rank) return;
    }
}

/// Queue k's replica would be read, and nobody has written to it.
[[noreturn]] void fail_unwritten(const AnyBuffer& buffer, unsigned k);

/// Gives the commands of a transfer to its queue, which is locked, and notes their last point; where one of
/// them is refused, that of those before it, which are under way.
template <class Give, class Note>
backends::Point give_noted(const backends::Queue& queue, Give&& give, Note&& note) {
    const backends::Point before = queue.last();
    backends::Point point = 0;
    try {
        point = give();
    } catch (...) {
        if (queue.last() != before) note(queue.last());
        throw;
    }
    note(point);
    return point;
}

/// One end of a way between devices, and the command that it is there.
template <class M>
struct HopSide {
    unsigned queue = 0;
    M* memory = nullptr;
    const TimedCommand* timed = nullptr;
};
struct HopPoints {
    // Nothing yet: none. A point may be 0, of a queue that had nothing to do and whose bytes the host moved.
    std::optional<backends::Point> written;
    std::optional<backends::Point> read;
};
/// Page-locked pieces that rows between two devices go through. A graph keeps them from run to run; else they
/// end with the last work that uses them.
class HopStaging {
public:
    /// Memory of the queue's device, which is the destination. May have to wait for work, so it is made
    /// without any lock. Throws MemoryError.
    HopStaging(ContextCore& core, unsigned to_queue, const Rows& rows);

private:
    friend void hop(ContextCore& core, const HopSide<backends::Memory>& to,
                    const HopSide<const backends::Memory>& from, const Rows& rows, HopStaging& staging,
                    HopPoints& points);
    struct Slot {
        std::shared_ptr<Storage> storage;
        backends::Memory* memory = nullptr;
        backends::Point free = 0;  // on the destination's queue
    };
    std::vector<Slot> slots_;
    std::uint64_t largest_ = 0;
};

/// Moves rows between two devices, or two queues that share no memory: in pieces, both queues at work at
/// once. Tells the last points on both, of what was given before an exception too; the caller has ordered
/// both sides and records their uses.
void hop(ContextCore& core, const HopSide<backends::Memory>& to, const HopSide<const backends::Memory>& from,
         const Rows& rows, HopStaging& staging, HopPoints& points);
/// How many calls of both drivers a hop makes.
[[nodiscard]] std::uint64_t hop_calls(const Rows& rows);

}  // namespace volley::runtime
