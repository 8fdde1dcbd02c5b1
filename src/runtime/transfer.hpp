// Moving elements between arrays: host and device, device and device. Each transfer is planned first (which
// rows, in how many commands), and the plan that is followed is the one that transfer_plan() tells.
#pragma once

#include "backends/api/queue.hpp"
#include "core/layout.hpp"
#include "runtime/context_core.hpp"
#include "runtime/transfer_counters.hpp"

#include <volley/any_buffer.hpp>
#include <volley/region.hpp>

#include <array>
#include <cstdint>

namespace volley::runtime {

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

/// Calls f(to, from, rect) for each command that moves at most three dimensions of the rows.
template <class F>
void for_each_rect(const Rows& rows, F&& f) {
    using backend::Rect;
    using backend::RectPlace;
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

/// Moves rows between two devices, or two queues that share no memory: in pieces, through page-locked memory,
/// both queues at work at once. Returns the last point on `to_queue`; the caller has ordered both sides and
/// records their uses: `last_read` is the point on `from_queue`.
struct HopPoints {
    backend::Point written = 0;
    backend::Point read = 0;
};
[[nodiscard]] HopPoints hop(ContextCore& core, unsigned to_queue, backend::Memory& to, unsigned from_queue,
                            const backend::Memory& from, const Rows& rows);
/// How many calls of both drivers a hop makes.
[[nodiscard]] std::uint64_t hop_calls(const Rows& rows);

}  // namespace volley::runtime
