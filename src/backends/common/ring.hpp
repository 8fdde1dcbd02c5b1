// Allocates from a ring of memory: staging for transfers, arguments that do not fit elsewhere. Ranges are
// allocated in order and freed when their point has passed. Works on offsets only; the owner holds the
// memory.
//
// Not thread-safe: the queue's lock guards it.
#pragma once

#include "backends/api/timeline.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace volley::backends {

class Ring {
public:
    explicit Ring(std::uint64_t bytes) : size_(bytes) {}

    /// Returns the offset, a multiple of 256, of `bytes` contiguous free bytes, or nothing if there are none.
    /// commit() allocates them.
    [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t bytes);
    /// Allocates the range that find() last returned; it is in use until `point`.
    void commit(Point point) noexcept;
    /// Frees the ranges in use until `completed` or earlier.
    void pass(Point completed) noexcept;
    /// Returns the point that frees the oldest range, or 0 if nothing is in use.
    [[nodiscard]] Point oldest() const noexcept { return count_ == 0 ? 0 : entries_[first_].point; }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

private:
    struct Entry {
        std::uint64_t end = 0;
        Point point = 0;
    };
    std::uint64_t size_;
    // Positions grow forever; the offset in the ring is the position modulo its size.
    std::uint64_t head_ = 0;      // end of the allocated range
    std::uint64_t tail_ = 0;      // its beginning
    std::uint64_t found_ = 0;     // end of the range that find() returned
    std::vector<Entry> entries_;  // used as a ring too
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

}  // namespace volley::backends
