// Which use of memory must wait for which: the one place where that is decided, for launches and transfers
// that run at once, for waits between queues, for the host, and for the commands of a graph.
//
// The algebra. A resource is a range of units: the bytes of a replica, or the subresources of an image. Each
// unit has a state (w, R): the last write, and the reads since. A use at u of some units
//     must follow   {w}                           if it reads,
//                   R, or {w} where R is empty    if it writes (each read has followed w already);
//     then sets     R := R + {u}                  if it reads,
//                   w := u, R := {}               if it writes.
// A command that uses a unit more than once, through several views or parameters, uses it once: it writes if
// any of these uses does (merge_accesses). Units are independent: a write to a part of a range leaves the
// state of the rest as it was.
//
// Uses stand on lanes. Those of one lane are ordered by nature, and the higher point implies the lower ones,
// so R has one use a lane. A queue is a lane; in a graph each command is one.
//
// That every conflicting pair is ordered by this, and no other, is what tests/runtime/hazards_test.cpp checks
// by enumeration.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace volley::runtime {

/// Units [begin, end) of a resource.
struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] bool empty() const noexcept { return begin >= end; }
    friend bool operator==(const Range&, const Range&) noexcept = default;
};
[[nodiscard]] inline bool intersects(const Range& a, const Range& b) noexcept {
    return std::max(a.begin, b.begin) < std::min(a.end, b.end);  // so that an empty one meets nothing
}

/// A place on a lane. Point 0: none, or long over.
struct Use {
    unsigned lane = 0;
    std::uint64_t point = 0;
    [[nodiscard]] bool none() const noexcept { return point == 0; }
    friend bool operator==(const Use&, const Use&) noexcept = default;
};

/// What a command does with a part of a resource.
struct Access {
    const void* resource = nullptr;  // whatever tells one from another
    Range range;
    bool writes = false;
};

/// The union of a command's accesses: sorted by resource and place, none intersects another, a unit that is
/// written anywhere is written.
[[nodiscard]] std::vector<Access> merge_accesses(std::vector<Access> accesses);

/// The states of one resource. Not thread-safe. Costs a comparison or two for a resource that is used as one
/// piece, and a logarithm of the pieces for others; allocates only where pieces come into being.
class AccessMap {
public:
    /// Calls f(use) for what a use of that range must follow. The same use may come more than once.
    template <class F>
    void conflicts(const Range& range, bool writes, F&& f) const {
        if (range.empty()) return;
        for (std::size_t i = first_behind(range.begin); i < pieces_.size(); ++i) {
            const Piece& piece = pieces_[i];
            if (piece.begin >= range.end) return;
            if (writes && !piece.read.none()) {
                f(piece.read);
                for (const Use& use : piece.more_reads) f(use);
            } else if (!piece.write.none()) {
                f(piece.write);
            }
        }
    }
    /// The range is used there. Uses of one lane may come in the wrong order (threads that have given
    /// commands to one queue at once): the higher point counts. A use that is none changes nothing.
    void add(const Range& range, bool writes, Use use) {
        if (range.empty() || use.none()) return;
        if (pieces_.size() == 1 && pieces_[0].begin == range.begin && pieces_[0].end == range.end) {
            apply(pieces_[0], writes, use);  // the hot path
        } else {
            add_slow(range, writes, use);
        }
    }
    /// Nothing uses the range any more: whoever says so has waited for all of it.
    void clear(const Range& range);
    void clear() noexcept { pieces_.clear(); }
    /// Drops the uses for which passed(use) is true: nobody need follow them.
    template <class F>
    void forget(F&& passed) {
        for (Piece& piece : pieces_) {
            if (!piece.write.none() && passed(piece.write)) piece.write = {};
            std::erase_if(piece.more_reads, passed);
            if (!piece.read.none() && passed(piece.read)) {
                piece.read = {};
                if (!piece.more_reads.empty()) {
                    piece.read = piece.more_reads.front();
                    piece.more_reads.erase(piece.more_reads.begin());
                }
            }
        }
        drop_unused();
    }
    [[nodiscard]] std::size_t pieces() const noexcept { return pieces_.size(); }

private:
    // Invariant: pieces are sorted, do not intersect, are not empty and are used; neighbours that touch
    // differ in state; the reads of a piece are sorted by lane, no two are of one.
    struct Piece {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        Use write;
        Use read;                     // the first of R: the others are rare
        std::vector<Use> more_reads;  // empty unless there is a first
        [[nodiscard]] bool same_state(const Piece& other) const noexcept {
            return write == other.write && read == other.read && more_reads == other.more_reads;
        }
    };
    [[nodiscard]] std::size_t first_behind(std::uint64_t unit) const noexcept {
        // Nearly always there is one piece.
        if (pieces_.empty() || pieces_[0].end > unit) return 0;
        return pieces_.size() == 1 ? 1 : find_behind(unit);
    }
    [[nodiscard]] std::size_t find_behind(std::uint64_t unit) const noexcept;
    std::size_t split(std::uint64_t unit);
    void join(std::size_t first, std::size_t last);
    static void apply(Piece& piece, bool writes, Use use);
    void add_slow(const Range& range, bool writes, Use use);
    void drop_unused() noexcept;

    std::vector<Piece> pieces_;
};

}  // namespace volley::runtime
