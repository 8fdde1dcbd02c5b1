// Pieces rotate through page-locked slots of the destination's device: while one slot is written to the
// destination, the source fills another. Neither queue waits for the host.
#include "runtime/hop.hpp"

#include "runtime/transfer.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace volley::runtime {
namespace {

using backends::Point;
using backends::Rect;
using backends::RectPlace;

constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;
constexpr std::size_t slot_count = 3;

/// A part of the rows that fits into a slot, and its place on both sides.
struct Piece {
    RectPlace to;
    RectPlace from;
    Rect rect;
};

/// Calls f(piece) for parts of one rect of at most piece_bytes: some planes, some rows of one, or a part of a
/// row.
template <class F>
void for_each_piece(const RectPlace& to, const RectPlace& from, const Rect& rect, F&& f) {
    const auto moved = [](const RectPlace& place, std::uint64_t plane, std::uint64_t row,
                          std::uint64_t byte) {
        RectPlace result = place;
        result.offset += plane * place.stride[1] + row * place.stride[0] + byte;
        return result;
    };
    const std::uint64_t plane_bytes = rect.row * rect.count[0];
    if (plane_bytes <= piece_bytes) {
        const std::uint64_t planes = piece_bytes / plane_bytes;
        for (std::uint64_t p = 0; p < rect.count[1]; p += planes) {
            f(Piece{moved(to, p, 0, 0),
                    moved(from, p, 0, 0),
                    {rect.row, {rect.count[0], std::min(planes, rect.count[1] - p)}}});
        }
        return;
    }
    const std::uint64_t rows = std::max<std::uint64_t>(piece_bytes / rect.row, 1);
    const std::uint64_t bytes = std::min(rect.row, piece_bytes);
    for (std::uint64_t p = 0; p < rect.count[1]; ++p) {
        for (std::uint64_t r = 0; r < rect.count[0]; r += rows) {
            for (std::uint64_t b = 0; b < rect.row; b += bytes) {
                f(Piece{moved(to, p, r, b),
                        moved(from, p, r, b),
                        {std::min(bytes, rect.row - b), {std::min(rows, rect.count[0] - r), 1}}});
            }
        }
    }
}

template <class F>
void for_each_piece(const Rows& rows, F&& f) {
    for_each_rect(rows, [&](const RectPlace& to, const RectPlace& from, const Rect& rect) {
        for_each_piece(to, from, rect, f);
    });
}

}  // namespace

std::uint64_t hop_calls(const Rows& rows) {
    std::uint64_t pieces = 0;
    for_each_piece(rows, [&](const Piece& /*piece*/) { ++pieces; });
    return 2 * pieces;
}

HopStaging::HopStaging(ContextCore& core, unsigned to_queue, const Rows& rows) {
    std::size_t pieces = 0;
    for_each_piece(rows, [&](const Piece& piece) {
        largest_ = std::max(largest_, piece.rect.bytes());
        ++pieces;
    });
    slots_.resize(std::min(slot_count, pieces));
    for (Slot& slot : slots_) {
        slot.storage = Storage::adopt(core.shared_from_this(), to_queue,
                                      core.allocate_host(core.device_of(to_queue), largest_), nullptr);
        slot.memory = slot.storage->find(to_queue)->memory();
    }
}

void Hop::submit(const Rows& rows, HopStaging& staging) {
    backends::Queue& writer = core_.queue(to_.queue);
    backends::Queue& reader = core_.queue(from_.queue);
    std::size_t next = 0;
    for_each_piece(rows, [&](const Piece& piece) {
        HopStaging::Slot& slot = staging.slots_[next++ % staging.slots_.size()];
        const RectPlace dense{0, {piece.rect.row, piece.rect.row * piece.rect.count[0]}};
        if (slot.free != 0) core_.order_after(from_.queue, {to_.queue, slot.free});
        Replica& use = slot.storage->replica(to_.queue);
        const Point read = reading_->submit([&] {
            return reader.read_rect(*from_.memory, piece.from, slot.memory->host(), dense, piece.rect);
        });
        use.used(from_.queue, read, {0, staging.largest_});
        core_.order_after(to_.queue, {from_.queue, read});
        slot.free = writing_->submit(
            [&] { return writer.copy_rect(*to_.memory, piece.to, *slot.memory, dense, piece.rect); });
        use.used(to_.queue, slot.free, {0, staging.largest_});
    });
}

}  // namespace volley::runtime
