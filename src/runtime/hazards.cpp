// Stores the states of a resource as pieces, which are split at the bounds of a use and joined when adjacent
// states become equal.
#include "runtime/hazards.hpp"

#include <algorithm>
#include <functional>

namespace volley::runtime {

std::vector<Access> merge_accesses(std::vector<Access> accesses) {
    std::erase_if(accesses, [](const Access& access) { return access.range.empty(); });
    if (accesses.size() < 2) return accesses;
    std::sort(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
        if (a.resource != b.resource) return std::less<>()(a.resource, b.resource);
        return a.range.begin < b.range.begin;
    });
    std::vector<Access> merged;
    for (std::size_t i = 0; i < accesses.size();) {
        // Collects a run of accesses that intersect or touch, and cuts it at each begin and end.
        std::size_t next = i + 1;
        std::uint64_t end = accesses[i].range.end;
        std::vector<std::uint64_t> cuts = {accesses[i].range.begin, end};
        while (next < accesses.size() && accesses[next].resource == accesses[i].resource &&
               accesses[next].range.begin <= end) {
            end = std::max(end, accesses[next].range.end);
            cuts.push_back(accesses[next].range.begin);
            cuts.push_back(accesses[next].range.end);
            ++next;
        }
        std::sort(cuts.begin(), cuts.end());
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        const std::size_t first = merged.size();
        for (std::size_t c = 0; c + 1 < cuts.size(); ++c) {
            const ByteRange part{cuts[c], cuts[c + 1]};
            bool writes = false;
            for (std::size_t k = i; k < next; ++k)
                writes = writes || (accesses[k].writes && intersects(accesses[k].range, part));
            if (merged.size() > first && merged.back().writes == writes) {
                merged.back().range.end = part.end;
            } else {
                merged.push_back({accesses[i].resource, part, writes});
            }
        }
        i = next;
    }
    return merged;
}

std::size_t AccessMap::find_after(std::uint64_t unit) const noexcept {
    const auto found =
        std::upper_bound(pieces_.begin(), pieces_.end(), unit,
                         [](std::uint64_t value, const Piece& piece) { return value < piece.end; });
    return static_cast<std::size_t>(found - pieces_.begin());
}

/// Splits the piece that contains the unit, if any, so that one begins there. Returns the first piece that
/// begins at or after the unit.
std::size_t AccessMap::split(std::uint64_t unit) {
    const std::size_t i = first_behind(unit);
    if (i == pieces_.size() || pieces_[i].begin >= unit) return i;
    Piece right = pieces_[i];
    right.begin = unit;
    pieces_[i].end = unit;
    pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(right));
    return i + 1;
}

/// Joins adjacent pieces of equal state among [first, last) and the pieces next to them.
void AccessMap::join(std::size_t first, std::size_t last) {
    std::size_t kept = first == 0 ? 0 : first - 1;
    const std::size_t end = std::min(last + 1, pieces_.size());
    for (std::size_t i = kept + 1; i < end; ++i) {
        if (pieces_[kept].end == pieces_[i].begin && pieces_[kept].same_state(pieces_[i])) {
            pieces_[kept].end = pieces_[i].end;
        } else if (++kept != i) {
            pieces_[kept] = std::move(pieces_[i]);
        }
    }
    if (kept + 1 < end) {
        pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(kept) + 1,
                      pieces_.begin() + static_cast<std::ptrdiff_t>(end));
    }
}

void AccessMap::apply(Piece& piece, bool writes, Use use) {
    const auto is_later = [&](const Use& other) { return other.lane == use.lane && other.point > use.point; };
    if (writes) {
        if (is_later(piece.write)) return;  // already overwritten
        piece.write = use;
        // Keeps a later read of the same lane.
        Use later = is_later(piece.read) ? piece.read : Use{};
        for (const Use& read : piece.more_reads) {
            if (is_later(read)) later = read;
        }
        piece.more_reads.clear();
        piece.read = later;
        return;
    }
    if (is_later(piece.write)) return;  // uses that follow the write follow this read as well
    if (piece.read.none() || piece.read.lane == use.lane) {
        if (piece.read.point < use.point) piece.read = use;
        return;
    }
    std::vector<Use>& more = piece.more_reads;
    if (use.lane < piece.read.lane) {
        more.insert(more.begin(), piece.read);
        piece.read = use;
        return;
    }
    // The commands of a graph are added in the order of their lanes, so usually this is the end.
    const auto before = [](const Use& read, unsigned lane) { return read.lane < lane; };
    const auto place = more.empty() || before(more.back(), use.lane)
                           ? more.end()
                           : std::lower_bound(more.begin(), more.end(), use.lane, before);
    if (place == more.end() || place->lane != use.lane) {
        more.insert(place, use);
    } else if (place->point < use.point) {
        *place = use;
    }
}

void AccessMap::add_slow(const ByteRange& range, bool writes, Use use) {
    std::size_t i = split(range.begin);
    const std::size_t first = i;
    split(range.end);
    std::uint64_t at = range.begin;
    while (at < range.end) {
        if (i == pieces_.size() || pieces_[i].begin > at) {
            // Units not used before, up to the next piece.
            Piece fresh;
            fresh.begin = at;
            fresh.end = i == pieces_.size() ? range.end : std::min(range.end, pieces_[i].begin);
            pieces_.insert(pieces_.begin() + static_cast<std::ptrdiff_t>(i), std::move(fresh));
        }
        apply(pieces_[i], writes, use);
        at = pieces_[i].end;
        ++i;
    }
    join(first, i);
}

void AccessMap::clear(const ByteRange& range) {
    if (range.empty()) return;
    const std::size_t first = split(range.begin);
    const std::size_t last = split(range.end);
    pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(first),
                  pieces_.begin() + static_cast<std::ptrdiff_t>(last));
}

void AccessMap::drop_unused() noexcept {
    std::erase_if(pieces_, [](const Piece& piece) { return piece.write.none() && piece.read.none(); });
    if (!pieces_.empty()) join(0, pieces_.size());
}

}  // namespace volley::runtime
