// Places in a ring of memory: staging of transfers, arguments that do not fit elsewhere. Parts are taken in
// order and come back when their point has passed. Works on offsets alone; the memory is its owner's.
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

    /// Where so many bytes in a row are free, at a multiple of 256; nothing if there is no such place. They
    /// are the caller's once it commits.
    [[nodiscard]] std::optional<std::uint64_t> find(std::uint64_t bytes);
    /// Takes what find() gave last; it is in use until `point`.
    void commit(Point point) noexcept;
    /// Frees what was in use until then.
    void pass(Point completed) noexcept;
    /// The point that frees the oldest part; 0 when nothing is in use.
    [[nodiscard]] Point oldest() const noexcept { return count_ == 0 ? 0 : entries_[first_].point; }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

private:
    struct Entry {
        std::uint64_t end = 0;
        Point point = 0;
    };
    std::uint64_t size_;
    // Positions count on forever; the place in the ring is the remainder.
    std::uint64_t head_ = 0;      // the end of what is taken
    std::uint64_t tail_ = 0;      // its begin
    std::uint64_t found_ = 0;     // the end of what find() gave
    std::vector<Entry> entries_;  // itself a ring
    std::size_t first_ = 0;
    std::size_t count_ = 0;
};

}  // namespace volley::backends
