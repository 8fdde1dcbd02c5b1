// Helpers for tests of transfers of separate rows: random rects, and a model of the commands as byte loops.
#pragma once

#include "backends/api/rect.hpp"
#include "support/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <vector>

namespace volley::backends {

inline std::ostream& operator<<(std::ostream& out, const Rect& rect) {
    return out << rect.count[1] << " x " << rect.count[0] << " rows of " << rect.row;
}
inline std::ostream& operator<<(std::ostream& out, const RectPlace& place) {
    return out << "at " << place.offset << " strides " << place.stride[0] << ", " << place.stride[1];
}

}  // namespace volley::backends

namespace volley::testing {

using backends::Rect;
using backends::RectPlace;
using Bytes = std::vector<std::byte>;

inline std::uint64_t row_start(const RectPlace& place, std::uint64_t row, std::uint64_t plane) {
    return place.offset + row * place.stride[0] + plane * place.stride[1];
}

/// One past the last byte.
inline std::uint64_t end_of(const RectPlace& place, const Rect& rect) {
    return row_start(place, rect.count[0] - 1, rect.count[1] - 1) + rect.row;
}

/// f(row, plane)
template <class F>
void for_each_row(const Rect& rect, F&& f) {
    for (std::uint64_t plane = 0; plane < rect.count[1]; ++plane) {
        for (std::uint64_t row = 0; row < rect.count[0]; ++row) f(row, plane);
    }
}

inline void copy_on_host(std::byte* to, const RectPlace& to_at, const std::byte* from,
                         const RectPlace& from_at, const Rect& rect) {
    for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
        std::memcpy(to + row_start(to_at, row, plane), from + row_start(from_at, row, plane), rect.row);
    });
}

inline void fill_on_host(std::byte* to, const RectPlace& at, const Rect& rect, const Bytes& pattern) {
    Bytes line(rect.row);
    for (std::uint64_t i = 0; i < rect.row; ++i) line[i] = pattern[i % pattern.size()];
    for_each_row(rect, [&](std::uint64_t row, std::uint64_t plane) {
        std::memcpy(to + row_start(at, row, plane), line.data(), rect.row);
    });
}

inline Bytes random_bytes(Random& random, std::size_t count) {
    Bytes bytes(count);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.bits());
    return bytes;
}

/// Of at most that many bytes: rows that are elements, short, long; one or many.
inline Rect random_rect(Random& random, std::uint64_t most) {
    Rect rect;
    rect.row =
        random.pick<std::uint64_t>({1,  2,  3,  4,  4,   6,   8,   12,  16,  17,   24,   31,   32,    40,
                                    48, 63, 64, 65, 100, 200, 256, 300, 512, 1000, 4096, 5000, 13'000});
    rect.row = std::min(rect.row, most);
    rect.count[0] = std::min(1 + random.below(random.pick<std::uint64_t>({1, 4, 40})), most / rect.row);
    rect.count[1] =
        std::min(1 + random.below(random.pick<std::uint64_t>({1, 3, 12})), most / (rect.row * rect.count[0]));
    return rect;
}

/// Dense, padded by elements, or by anything; planes apart by whole rows or not. What a count of 1 leaves
/// without meaning is filled with nonsense.
inline RectPlace random_place(Random& random, const Rect& rect) {
    const std::uint64_t unit = rect.row % 4 == 0 ? 4 : 1;
    RectPlace place;
    place.offset = random.chance(30) ? 0 : random.below(100) * unit;
    place.stride[0] = rect.row;
    if (random.chance(75)) place.stride[0] += random.below(random.pick<std::uint64_t>({4, 80})) * unit;
    if (random.chance(10)) place.stride[0] += random.below(16);
    switch (random.below(3)) {
        case 0: place.stride[1] = place.stride[0] * rect.count[0]; break;
        case 1: place.stride[1] = place.stride[0] * (rect.count[0] + random.below(3)); break;
        default:
            place.stride[1] = place.stride[0] * (rect.count[0] - 1) + rect.row +
                              random.below(random.pick<std::uint64_t>({2, 50})) * unit;
    }
    for (const std::size_t d : {0u, 1u}) {
        if (rect.count[d] == 1 && random.chance(50)) place.stride[d] = random.pick<std::uint64_t>({0, 1, 7});
    }
    return place;
}

/// A pattern that divides the row.
inline Bytes random_pattern(Random& random, std::uint64_t row) {
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t size = 1; size <= row; ++size) {
        if (row % size == 0) sizes.push_back(size);
    }
    return random_bytes(random, random.pick(sizes));
}

}  // namespace volley::testing
