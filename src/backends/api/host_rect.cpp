// One loop over rows for each way to copy one, so that the choice is made once.
#include "backends/api/host_rect.hpp"

#include "backends/api/pattern.hpp"
#include "backends/api/rect_parts.hpp"
#include "backends/api/stream_copy.hpp"

#include <array>
#include <cstdint>
#include <cstring>

namespace volley::backend {
namespace {

constexpr std::uint64_t streamed_row = 1024;  // shorter ones do not fill the lines that they write

template <class F>
void for_each_row(std::byte* to, const std::byte* from, const RectMove& move, F&& copy) {
    for (std::uint64_t plane = 0; plane < move.rect.count[1]; ++plane) {
        std::byte* target = to + move.to.offset + plane * move.to.stride[1];
        const std::byte* source = from + move.from.offset + plane * move.from.stride[1];
        for (std::uint64_t row = move.rect.count[0]; row != 0; --row) {
            copy(target, source);
            target += move.to.stride[0];
            source += move.from.stride[0];
        }
    }
}

/// Known while compiling, it is a load and a store.
template <std::size_t Bytes>
void copy_fixed(std::byte* to, const std::byte* from, const RectMove& move) {
    for_each_row(to, from, move, [](std::byte* a, const std::byte* b) { std::memcpy(a, b, Bytes); });
}

/// Rows of Bytes to 2 * Bytes: its first and its last bytes, which may overlap, both read before any is
/// written.
template <std::size_t Bytes>
void copy_ends(std::byte* to, const std::byte* from, const RectMove& move) {
    const std::uint64_t last = move.rect.row - Bytes;
    for_each_row(to, from, move, [last](std::byte* a, const std::byte* b) {
        std::array<std::byte, Bytes> begin;
        std::array<std::byte, Bytes> end;
        std::memcpy(begin.data(), b, Bytes);
        std::memcpy(end.data(), b + last, Bytes);
        std::memcpy(a, begin.data(), Bytes);
        std::memcpy(a + last, end.data(), Bytes);
    });
}

}  // namespace

void copy_rows(std::byte* to, const RectPlace& to_at, const std::byte* from, const RectPlace& from_at,
               const Rect& rect) {
    const RectMove move = joined({rect, to_at, from_at});
    const std::uint64_t row = move.rect.row;
    switch (row) {
        case 1: return copy_fixed<1>(to, from, move);
        case 2: return copy_fixed<2>(to, from, move);
        case 3: return copy_fixed<3>(to, from, move);
        case 4: return copy_fixed<4>(to, from, move);
        case 8: return copy_fixed<8>(to, from, move);
        case 12: return copy_fixed<12>(to, from, move);
        case 16: return copy_fixed<16>(to, from, move);
        case 32: return copy_fixed<32>(to, from, move);
        default: break;
    }
    if (row < 8) return copy_ends<4>(to, from, move);
    if (row < 16) return copy_ends<8>(to, from, move);
    if (row < 32) return copy_ends<16>(to, from, move);
    if (row <= 64) return copy_ends<32>(to, from, move);
    if (row >= streamed_row && move.rect.bytes() >= large_copy) {
        return for_each_row(to, from, move,
                            [row](std::byte* a, const std::byte* b) { stream_copy(a, b, row); });
    }
    for_each_row(to, from, move, [row](std::byte* a, const std::byte* b) { std::memcpy(a, b, row); });
}

void fill_rows(std::byte* to, const RectPlace& at, const Rect& rect, std::span<const std::byte> pattern) {
    std::array<std::byte, 4096> line;
    if (rect.row <= line.size()) {
        repeat(line.data(), rect.row, pattern);
        return copy_rows(to, at, line.data(), {}, rect);
    }
    for (std::uint64_t plane = 0; plane < rect.count[1]; ++plane) {
        for (std::uint64_t row = 0; row < rect.count[0]; ++row)
            repeat(to + at.offset + row * at.stride[0] + plane * at.stride[1], rect.row, pattern);
    }
}

}  // namespace volley::backend
