// Maintains the free lists by size class, and splits and merges pieces.
#include "backends/common/tlsf.hpp"

#include <algorithm>
#include <bit>

namespace volley::backends {

Tlsf::Tlsf(std::uint64_t bytes, std::uint64_t unit)
    : unit_shift_(static_cast<unsigned>(std::countr_zero(unit))), units_(bytes >> unit_shift_) {
    for (auto& row : heads_) row.fill(none);
    if (units_ == 0) return;
    const std::uint32_t all = make_piece();
    pieces_[all].size = units_;
    link(all);
}

Tlsf::Class Tlsf::class_of(std::uint64_t units) noexcept {
    // Each size below the width of the second level has its own class.
    if (units < second_count) return {0, static_cast<unsigned>(units)};
    const auto top = static_cast<unsigned>(std::bit_width(units)) - 1;
    const auto second = static_cast<unsigned>(units >> (top - second_bits)) & (second_count - 1);
    return {std::min(top - second_bits + 1, first_count - 1), second};
}

std::uint32_t Tlsf::find(std::uint64_t units) const noexcept {
    // Round up to the next class, so that every piece in it is large enough.
    std::uint64_t rounded = units;
    if (units >= second_count) {
        const auto top = static_cast<unsigned>(std::bit_width(units)) - 1;
        rounded += (std::uint64_t{1} << (top - second_bits)) - 1;
    }
    const Class requested = class_of(rounded);
    const std::uint32_t here = second_map_[requested.first] & (~0u << requested.second);
    if (here != 0) return heads_[requested.first][static_cast<unsigned>(std::countr_zero(here))];
    const std::uint64_t above = first_map_ & (~std::uint64_t{0} << (requested.first + 1));
    if (above != 0) {
        const auto first = static_cast<unsigned>(std::countr_zero(above));
        return heads_[first][static_cast<unsigned>(std::countr_zero(second_map_[first]))];
    }
    // The size's own class may also hold a piece that fits; try it before the caller allocates a new block.
    const Class own = class_of(units);
    for (std::uint32_t piece = heads_[own.first][own.second]; piece != none; piece = pieces_[piece].next) {
        if (pieces_[piece].size >= units) return piece;
    }
    return none;
}

std::optional<Tlsf::Allocation> Tlsf::allocate(std::uint64_t bytes) {
    const std::uint64_t unit = std::uint64_t{1} << unit_shift_;
    if (bytes > capacity()) return std::nullopt;
    const std::uint64_t requested = std::max<std::uint64_t>((bytes + unit - 1) >> unit_shift_, 1);
    const std::uint32_t piece = find(requested);
    if (piece == none) return std::nullopt;
    if (pieces_[piece].size > requested) {
        const std::uint32_t rest = make_piece();  // may throw; nothing has changed yet
        unlink(piece);
        Piece& taken = pieces_[piece];
        Piece& left = pieces_[rest];
        left.offset = taken.offset + requested;
        left.size = taken.size - requested;
        left.before = piece;
        left.after = taken.after;
        if (taken.after != none) pieces_[taken.after].before = rest;
        taken.after = rest;
        taken.size = requested;
        link(rest);
    } else {
        unlink(piece);
    }
    used_ += requested;
    return Allocation{pieces_[piece].offset << unit_shift_, piece};
}

void Tlsf::free(Handle handle) noexcept {
    std::uint32_t piece = handle;
    used_ -= pieces_[piece].size;
    if (const std::uint32_t after = pieces_[piece].after; after != none && pieces_[after].free) {
        unlink(after);
        merge_with_next(piece);
    }
    if (const std::uint32_t before = pieces_[piece].before; before != none && pieces_[before].free) {
        unlink(before);
        merge_with_next(before);
        piece = before;
    }
    link(piece);
}

void Tlsf::merge_with_next(std::uint32_t piece) noexcept {
    const std::uint32_t gone = pieces_[piece].after;
    pieces_[piece].size += pieces_[gone].size;
    pieces_[piece].after = pieces_[gone].after;
    if (pieces_[gone].after != none) pieces_[pieces_[gone].after].before = piece;
    drop_piece(gone);
}

std::uint32_t Tlsf::make_piece() {
    if (unused_ == none) {
        pieces_.emplace_back();
        return static_cast<std::uint32_t>(pieces_.size() - 1);
    }
    const std::uint32_t piece = unused_;
    unused_ = pieces_[piece].next;
    pieces_[piece] = {};
    return piece;
}

void Tlsf::drop_piece(std::uint32_t piece) noexcept {
    pieces_[piece] = {};
    pieces_[piece].next = unused_;
    unused_ = piece;
}

void Tlsf::link(std::uint32_t piece) noexcept {
    const Class at = class_of(pieces_[piece].size);
    std::uint32_t& head = heads_[at.first][at.second];
    pieces_[piece].free = true;
    pieces_[piece].previous = none;
    pieces_[piece].next = head;
    if (head != none) pieces_[head].previous = piece;
    head = piece;
    second_map_[at.first] |= 1u << at.second;
    first_map_ |= std::uint64_t{1} << at.first;
}

void Tlsf::unlink(std::uint32_t piece) noexcept {
    Piece& gone = pieces_[piece];
    gone.free = false;
    if (gone.next != none) pieces_[gone.next].previous = gone.previous;
    if (gone.previous != none) {
        pieces_[gone.previous].next = gone.next;
        return;
    }
    const Class at = class_of(gone.size);
    heads_[at.first][at.second] = gone.next;
    if (gone.next != none) return;
    second_map_[at.first] &= ~(1u << at.second);
    if (second_map_[at.first] == 0) first_map_ &= ~(std::uint64_t{1} << at.first);
}

bool Tlsf::consistent() const {
    if (units_ == 0) return used_ == 0;
    std::uint32_t piece = none;
    std::vector<bool> unused(pieces_.size());
    for (std::uint32_t p = unused_; p != none; p = pieces_[p].next) unused[p] = true;
    for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
        if (!unused[p] && pieces_[p].before == none) piece = p;
    }
    std::uint64_t end = 0;
    std::uint64_t taken = 0;
    std::uint32_t before = none;
    for (; piece != none; before = piece, piece = pieces_[piece].after) {
        const Piece& p = pieces_[piece];
        if (p.offset != end || p.size == 0 || p.before != before) return false;
        if (p.free && before != none && pieces_[before].free) return false;
        if (!p.free) taken += p.size;
        if (p.free) {
            const Class at = class_of(p.size);
            bool listed = false;
            for (std::uint32_t q = heads_[at.first][at.second]; q != none; q = pieces_[q].next)
                listed = listed || q == piece;
            if (!listed) return false;
        }
        end += p.size;
    }
    return end == units_ && taken == used_;
}

}  // namespace volley::backends
