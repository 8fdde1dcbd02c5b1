// Two-level segregated fit: allocates from a range of bytes in constant time and with little waste. Works on
// offsets only, so it also serves memory that the host cannot address.
//
// Invariant: the pieces of the range, free and allocated, are contiguous, and no two neighbours are both
// free. Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace volley::backends {

class Tlsf {
public:
    using Handle = std::uint32_t;
    struct Allocation {
        std::uint64_t offset = 0;  // a multiple of the unit
        Handle handle = 0;         // passed to free()
    };

    /// Manages [0, bytes) in units of a power of two: offsets and sizes are multiples of it. An incomplete
    /// unit at the end is not used.
    Tlsf(std::uint64_t bytes, std::uint64_t unit);

    /// Returns nothing if no free piece is large enough. Zero bytes take one unit.
    [[nodiscard]] std::optional<Allocation> allocate(std::uint64_t bytes);
    void free(Handle handle) noexcept;

    [[nodiscard]] std::uint64_t capacity() const noexcept { return units_ << unit_shift_; }
    [[nodiscard]] std::uint64_t used() const noexcept { return used_ << unit_shift_; }
    [[nodiscard]] bool empty() const noexcept { return used_ == 0; }
    /// Checks the invariant by visiting every piece; for tests.
    [[nodiscard]] bool consistent() const;

private:
    // Sizes are classified by their highest bit, and linearly by the four bits below it.
    static constexpr unsigned second_bits = 4;
    static constexpr unsigned second_count = 1u << second_bits;
    static constexpr unsigned first_count = 40;
    static constexpr std::uint32_t none = ~0u;

    struct Piece {
        std::uint64_t offset = 0;  // in units, like size
        std::uint64_t size = 0;
        std::uint32_t before = none;  // neighbours in the range
        std::uint32_t after = none;
        std::uint32_t previous = none;  // in the free list of a class, or the list of unused entries
        std::uint32_t next = none;
        bool free = false;
    };
    struct Class {
        unsigned first = 0;
        unsigned second = 0;
    };
    [[nodiscard]] static Class class_of(std::uint64_t units) noexcept;
    [[nodiscard]] std::uint32_t find(std::uint64_t units) const noexcept;
    [[nodiscard]] std::uint32_t make_piece();
    void drop_piece(std::uint32_t piece) noexcept;
    void link(std::uint32_t piece) noexcept;
    void unlink(std::uint32_t piece) noexcept;
    void merge_with_next(std::uint32_t piece) noexcept;

    unsigned unit_shift_;
    std::uint64_t units_;
    std::uint64_t used_ = 0;
    std::uint64_t first_map_ = 0;  // classes with free pieces
    std::array<std::uint32_t, first_count> second_map_{};
    std::array<std::array<std::uint32_t, second_count>, first_count> heads_;
    std::vector<Piece> pieces_;
    std::uint32_t unused_ = none;  // first of the pieces_ entries to reuse
};

}  // namespace volley::backends
