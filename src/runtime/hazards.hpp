// Decides which use of memory must wait for which. All ordering goes through this file: immediate launches
// and transfers, waits between queues, host access, and the commands of a graph.
//
// The rules. A resource is a range of units: the bytes of a replica, or the subresources of an image. Each
// unit has a state (w, R): the last write, and the reads since. A use u of some units
//     must follow   {w}                          if it reads,
//                   R, or {w} if R is empty      if it writes (each read already follows w);
//     then sets     R := R + {u}                 if it reads,
//                   w := u, R := {}              if it writes.
// A command that uses a unit several times, through several views or parameters, counts as one use, which
// writes if any of them does (merge_accesses). Units are independent: a write to part of a range does not
// change the state of the rest.
//
// Each use has a lane. Uses of one lane are implicitly ordered, and a higher point implies the lower ones, so
// R holds at most one use per lane. Each queue is a lane; in a graph, each command is a lane.
//
// tests/runtime/hazards_test.cpp checks by enumeration that these rules order every conflicting pair, and no
// other pair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace volley::runtime {

/// Bytes, or other units, [begin, end) of a resource.
struct ByteRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    [[nodiscard]] bool empty() const noexcept { return begin >= end; }
    friend bool operator==(const ByteRange&, const ByteRange&) noexcept = default;
};
[[nodiscard]] inline bool intersects(const ByteRange& a, const ByteRange& b) noexcept {
    return std::max(a.begin, b.begin) < std::min(a.end, b.end);  // false if either is empty
}

/// A point on a lane. Point 0: no use, or one completed long ago.
struct Use {
    unsigned lane = 0;
    std::uint64_t point = 0;
    [[nodiscard]] bool none() const noexcept { return point == 0; }
    friend bool operator==(const Use&, const Use&) noexcept = default;
};

/// An access of a command to part of a resource.
struct Access {
    const void* resource = nullptr;  // used only as an identity
    ByteRange range;
    bool writes = false;
};

/// Returns the union of a command's accesses, disjoint and sorted by resource and range. A unit is written if
/// any of the accesses writes it.
[[nodiscard]] std::vector<Access> merge_accesses(std::vector<Access> accesses);

/// The states of the units of one resource. Not thread-safe. An operation costs one or two comparisons for a
/// resource that is always used as a whole, otherwise O(log pieces) to find the first piece; it allocates
/// only when it creates pieces.
class AccessMap {
public:
    /// Calls f(use) for each use that an access to the range must follow, possibly repeatedly for one use.
    template <class F>
    void conflicts(const ByteRange& range, bool writes, F&& f) const {
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
    /// Records a use of the range. Uses of one lane may be added out of order, by threads that submit to one
    /// queue concurrently: the higher point wins. Ignores a use that is none().
    void add(const ByteRange& range, bool writes, Use use) {
        if (range.empty() || use.none()) return;
        if (pieces_.size() == 1 && pieces_[0].begin == range.begin && pieces_[0].end == range.end) {
            apply(pieces_[0], writes, use);  // the hot path
        } else {
            add_slow(range, writes, use);
        }
    }
    /// Removes all uses of the range; the caller has waited for them.
    void clear(const ByteRange& range);
    void clear() noexcept { pieces_.clear(); }
    /// Removes the uses for which passed(use) is true, which no command has to follow any more.
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
    // Invariant: pieces are sorted, disjoint and non-empty, and each has a use; adjacent pieces differ in
    // state; the reads of a piece are sorted by lane, with at most one per lane.
    struct Piece {
        std::uint64_t begin = 0;
        std::uint64_t end = 0;
        Use write;
        Use read;                     // the first element of R; more than one is rare
        std::vector<Use> more_reads;  // the others; empty if `read` is none()
        [[nodiscard]] bool same_state(const Piece& other) const noexcept {
            return write == other.write && read == other.read && more_reads == other.more_reads;
        }
    };
    [[nodiscard]] std::size_t first_behind(std::uint64_t unit) const noexcept {
        // Usually there is only one piece.
        if (pieces_.empty() || pieces_[0].end > unit) return 0;
        return pieces_.size() == 1 ? 1 : find_after(unit);
    }
    [[nodiscard]] std::size_t find_after(std::uint64_t unit) const noexcept;
    std::size_t split(std::uint64_t unit);
    void join(std::size_t first, std::size_t last);
    static void apply(Piece& piece, bool writes, Use use);
    void add_slow(const ByteRange& range, bool writes, Use use);
    void drop_unused() noexcept;

    std::vector<Piece> pieces_;
};

}  // namespace volley::runtime
