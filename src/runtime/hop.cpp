// Pieces rotate through page-locked slots of the destination's device: while one slot is written to the
// destination, the source fills another. Neither queue waits for the host.
#include "runtime/hop.hpp"

#include "backends/api/rect_parts.hpp"
#include "runtime/transfer.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace volley::runtime {
namespace {

using backends::Point;
using backends::RectMove;

constexpr std::int64_t direct_bytes = 256 << 10;  // copied by one thread at once
constexpr std::uint64_t piece_bytes = std::uint64_t{4} << 20;
constexpr std::size_t slot_count = 3;

/// Calls f(move) for parts of the rows that fit into a slot.
template <class F>
void for_each_piece(const Rows& rows, F&& f) {
    for_each_rect(rows, [&](const backends::RectMove& move) {
        backends::for_each_part(move.rect, backends::part_of(move.rect, piece_bytes),
                                [&](const backends::RectPart& part) { f(part.in(move)); });
    });
}

}  // namespace

bool is_direct(const backends::Queue& queue, const backends::Memory* to, const backends::Memory& from,
               const Rows& rows) {
    return rows.bytes() <= direct_bytes && queue.copies_from_host() && from.host() != nullptr &&
           (to == nullptr || to->host() != nullptr);
}

Point submit_direct(backends::Queue& queue, backends::Memory& to, const backends::Memory& from,
                    const Rows& rows) {
    return submit_rects(rows,
                        [&](const RectMove& move) { return queue.copy_from_host(to, from.host(), move); });
}

std::uint64_t hop_calls(const Rows& rows) {
    std::uint64_t pieces = 0;
    for_each_piece(rows, [&](const RectMove& /*piece*/) { ++pieces; });
    return 2 * pieces;
}

HopStaging::HopStaging(ContextCore& core, unsigned to_queue, const Rows& rows) {
    std::size_t pieces = 0;
    for_each_piece(rows, [&](const RectMove& piece) {
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
    for_each_piece(rows, [&](const RectMove& piece) {
        HopStaging::Slot& slot = staging.slots_[next++ % staging.slots_.size()];
        const backends::RectPlace dense = backends::dense(piece.rect);
        if (slot.free != 0) core_.order().after(from_.queue, {to_.queue, slot.free});
        Replica& use = slot.storage->replica(to_.queue);
        const Point read = reading_->submit([&] {
            return reader.read(slot.memory->host(), *from_.memory, {piece.rect, dense, piece.from});
        });
        use.used(from_.queue, read, {0, staging.largest_});
        core_.order().after(to_.queue, {from_.queue, read});
        slot.free = writing_->submit([&] {
            return writer.copy(*to_.memory, *slot.memory, {piece.rect, piece.to, dense});
        });
        use.used(to_.queue, slot.free, {0, staging.largest_});
    });
}

}  // namespace volley::runtime
