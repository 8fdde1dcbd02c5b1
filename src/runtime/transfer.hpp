// What transfers share: planning (which rows, by which path), and submitting rows to a queue. write.cpp,
// read.cpp, copy.cpp and fill.cpp hold one direction each, and follow the plan that transfer_plan() reports.
#pragma once

#include "backends/api/queue.hpp"
#include "core/layout.hpp"
#include "runtime/buffer_access.hpp"
#include "runtime/command_times.hpp"
#include "runtime/context_core.hpp"
#include "runtime/hazards.hpp"
#include "runtime/submission.hpp"
#include "runtime/transfer_counters.hpp"

#include <volley/any_buffer.hpp>
#include <volley/region.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace volley::runtime {

// ---- planning (transfer_plan.cpp) ----

/// Returns the array that a buffer describes.
[[nodiscard]] inline Layout layout_of(const AnyBuffer& buffer) {
    return {static_cast<std::int64_t>(buffer.offset()), buffer.shape(), buffer.strides()};
}
/// Returns the bytes of its storage that a command with the buffer may touch.
[[nodiscard]] inline ByteRange bytes_of(const AnyBuffer& buffer) noexcept {
    return {buffer.offset(), buffer.offset() + buffer.window_bytes()};
}
[[nodiscard]] inline std::int64_t element_of(const AnyBuffer& buffer) {
    return static_cast<std::int64_t>(buffer.dtype().size());
}

/// Returns the rows that move one array onto another of the same shape. With `with_padding` the bytes between
/// the elements may be moved too, so that arrays with the same strides are one piece.
[[nodiscard]] Rows plan_move(const Layout& to, const Layout& from, std::int64_t element, bool with_padding);
/// Returns the rows of a copy. Throws ArgumentError if types or shapes differ or the two overlap,
/// WrongContext.
[[nodiscard]] Rows plan_copy(const AnyBuffer& to, const AnyBuffer& from);
/// Returns the rows of a fill; `to` and `from` are the same.
[[nodiscard]] Rows plan_fill(const AnyBuffer& to);
/// Throws ArgumentError (SizeMismatch) unless the buffer has that shape. `doing` starts the message.
void check_same_shape(const Shape& given, const AnyBuffer& buffer, std::string_view doing);
/// Returns how a queue moves the rows. Never ThroughHost, which depends on both ends.
[[nodiscard]] TransferPath path_of(const Rows& rows) noexcept;
/// Returns how many driver calls the rows take on a queue.
[[nodiscard]] std::uint64_t calls_of(const backends::Queue& queue, const Rows& rows);

// ---- replicas ----

/// Throws MemoryError (NotAllocated): queue k's replica was never written.
[[noreturn]] void fail_unwritten(const AnyBuffer& buffer, unsigned k);
/// Returns the queues whose replicas a transfer writes: the named one, or the home of each replica.
[[nodiscard]] std::vector<unsigned> target_queues(const AnyBuffer& buffer, std::optional<QueueRef> queue);
/// Returns the queue of a recorded command, given its target_queues(); nothing unless the caller named a
/// queue.
[[nodiscard]] std::optional<unsigned> recorded_queue(std::optional<QueueRef> queue,
                                                     const std::vector<unsigned>& targets);
/// Allocates the memory of all targets. Throws, with nothing allocated, if one of them is mapped.
void prepare_targets(const AnyBuffer& buffer, const std::vector<unsigned>& queues);
/// Returns the footprint of a whole buffer on a queue.
[[nodiscard]] inline Footprint footprint(const AnyBuffer& buffer, unsigned queue, Usage usage) {
    return footprint(storage_of(buffer), queue, bytes_of(buffer), usage);
}
[[nodiscard]] inline CommandLabel label_of(CommandKind kind, const Rows& rows) {
    return {.kind = kind, .bytes = static_cast<std::uint64_t>(rows.bytes())};
}

// ---- commands ----

/// Calls f(move) for each command: a RectMove has at most three of the rows' dimensions.
template <class F>
void for_each_rect(const Rows& rows, F&& f) {
    const auto size = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    backends::RectMove move;
    move.rect.row = size(rows.row);
    for (std::size_t d = 0; d < 2 && static_cast<int>(d) < rows.rank; ++d) {
        move.rect.count[d] = size(rows.count[d]);
        move.to.stride[d] = size(rows.to_stride[d]);
        move.from.stride[d] = size(rows.from_stride[d]);
    }
    std::array<std::int64_t, max_rank> index{};  // of the axes that take one command each
    for (;;) {
        std::int64_t to_offset = rows.to_offset;
        std::int64_t from_offset = rows.from_offset;
        for (std::size_t d = 2; static_cast<int>(d) < rows.rank; ++d) {
            to_offset += index[d] * rows.to_stride[d];
            from_offset += index[d] * rows.from_stride[d];
        }
        move.to.offset = size(to_offset);
        move.from.offset = size(from_offset);
        f(std::as_const(move));
        std::size_t d = 2;
        while (static_cast<int>(d) < rows.rank && ++index[d] == rows.count[d]) index[d++] = 0;
        if (static_cast<int>(d) >= rows.rank) return;
    }
}

/// Submits each command of the rows with f(move), which returns its point; returns the last point.
template <class F>
backends::Point submit_rects(const Rows& rows, F&& f) {
    backends::Point point = 0;
    for_each_rect(rows, [&](const backends::RectMove& move) { point = f(move); });
    return point;
}

/// Submits a copy inside a device; returns the last command's point. Counts it.
backends::Point submit_copy(ContextCore& core, unsigned queue, backends::Memory& to,
                            const backends::Memory& from, const Rows& rows);
/// Counts a transfer in the context's statistics.
void count(TransferCounters& counters, TransferPath path, std::uint64_t calls, std::uint64_t bytes);
void count(ContextCore& core, unsigned queue, const Rows& rows);

/// Copies to the given queues' replicas, each from the nearest replica of `from` that was written.
Event copy_to_queues(const AnyBuffer& to, const std::vector<unsigned>& queues, const AnyBuffer& from,
                     const Rows& rows, CommandKind kind);

}  // namespace volley::runtime
