// One loop over rows for each way to copy a row, so that the choice is made once. Streaming stores bypass the
// caches for rows that are whole lines, for long rows, and for contiguous short rows, which are packed first.
#include "backends/common/host_rect.hpp"

#include "backends/api/rect_parts.hpp"
#include "backends/common/pattern.hpp"
#include "backends/common/stream_copy.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace volley::backends {
namespace {

constexpr std::uint64_t long_row =
    512;  // the cost of a call, or of partial lines at both ends, is negligible
constexpr std::size_t pack_bytes = 16384;  // of rows packed at once: half of the L1 cache
constexpr std::size_t fill_bytes = 4096;

/// A size known at compile time becomes a load and a store.
template <std::size_t Bytes>
struct CopyFixed {
    void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, Bytes); }
};

/// Copies parts of up to 16 bytes, the last one ending with the row. All are read before any is written.
template <std::size_t Bytes, std::size_t Parts>
struct CopyParts {
    std::uint64_t row;
    void operator()(std::byte* to, const std::byte* from) const {
        std::array<std::array<std::byte, Bytes>, Parts> parts;
        for (std::size_t i = 0; i + 1 < Parts; ++i) std::memcpy(&parts[i], from + i * Bytes, Bytes);
        std::memcpy(&parts[Parts - 1], from + row - Bytes, Bytes);
        for (std::size_t i = 0; i + 1 < Parts; ++i) std::memcpy(to + i * Bytes, &parts[i], Bytes);
        std::memcpy(to + row - Bytes, &parts[Parts - 1], Bytes);
    }
};

/// Copies cache lines, the last one ending with the row.
struct CopyLines {
    std::uint64_t last;
    void operator()(std::byte* to, const std::byte* from) const {
        for (std::uint64_t at = 0; at < last; at += cache_line) std::memcpy(to + at, from + at, cache_line);
        std::memcpy(to + last, from + last, cache_line);
    }
};

struct CopyBytes {
    std::uint64_t row;
    void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, row); }
};

struct CopyStreaming {
    std::uint64_t row;
    void operator()(std::byte* to, const std::byte* from) const { stream_part(to, from, row); }
};

template <class F>
void for_each_plane(std::byte* to, const std::byte* from, const RectMove& move, F&& f) {
    for (std::uint64_t plane = 0; plane < move.rect.count[1]; ++plane)
        f(to + move.to.offset + plane * move.to.stride[1],
          from + move.from.offset + plane * move.from.stride[1]);
}

template <class Copy>
void copy_each(std::byte* to, const std::byte* from, const RectMove& move, const Copy& copy) {
    for_each_plane(to, from, move, [&](std::byte* target, const std::byte* source) {
        const std::uint64_t to_stride = move.to.stride[0];
        const std::uint64_t from_stride = move.from.stride[0];
        for (std::uint64_t row = move.rect.count[0]; row != 0; --row) {
            copy(target, source);
            target += to_stride;
            source += from_stride;
        }
    });
}

/// For rows that are contiguous in the destination.
template <class Copy>
void copy_packed(std::byte* to, const std::byte* from, const RectMove& move, const Copy& copy) {
    alignas(64) std::array<std::byte, pack_bytes> pack;
    const std::uint64_t row = move.rect.row;
    const std::uint64_t from_stride = move.from.stride[0];
    for_each_plane(to, from, move, [&](std::byte* target, const std::byte* source) {
        for (std::uint64_t left = move.rect.count[0]; left != 0;) {
            const std::uint64_t rows = std::min<std::uint64_t>(left, pack_bytes / row);
            for (std::byte* at = pack.data(); at != pack.data() + rows * row; at += row) {
                copy(at, source);
                source += from_stride;
            }
            stream_part(target, pack.data(), rows * row);
            target += rows * row;
            left -= rows;
        }
    });
    stream_fence();
}

bool is_whole_lines(const std::byte* to, const RectMove& move) {
    const auto first = reinterpret_cast<std::uintptr_t>(to + move.to.offset);
    return (first | move.rect.row | move.to.stride[0] | move.to.stride[1]) % cache_line == 0;
}

}  // namespace

void copy_rows(std::byte* to, const std::byte* from, const RectMove& requested, bool streaming) {
    const RectMove move = joined(requested);
    const std::uint64_t row = move.rect.row;
    if (streaming && move.rect.rows() == 1)
        return stream_copy(to + move.to.offset, from + move.from.offset, row);
    if (streaming && (row >= long_row || is_whole_lines(to, move))) {
        copy_each(to, from, move, CopyStreaming{row});
        return stream_fence();
    }
    const auto each = [&](const auto& copy) {
        if (streaming && move.to.stride[0] == row) {
            copy_packed(to, from, move, copy);
        } else {
            copy_each(to, from, move, copy);
        }
    };
    switch (row) {
        case 1: return each(CopyFixed<1>{});
        case 2: return each(CopyFixed<2>{});
        case 4: return each(CopyFixed<4>{});
        case 8: return each(CopyFixed<8>{});
        case 12: return each(CopyFixed<12>{});
        case 16: return each(CopyFixed<16>{});
        default: break;
    }
    if (row < 4) return each(CopyParts<2, 2>{row});
    if (row < 8) return each(CopyParts<4, 2>{row});
    if (row < 16) return each(CopyParts<8, 2>{row});
    if (row <= 32) return each(CopyParts<16, 2>{row});
    if (row <= 48) return each(CopyParts<16, 3>{row});
    if (row <= 64) return each(CopyParts<16, 4>{row});
    if (row < long_row) return each(CopyLines{row - cache_line});
    copy_each(to, from, move, CopyBytes{row});
}

void fill_rows(std::byte* to, const RectPlace& at, const Rect& rect, std::span<const std::byte> pattern,
               bool streaming) {
    // The pattern divides adjacent rows, so they become one.
    const RectMove move = joined({rect, at, at});
    const std::uint64_t row = move.rect.row;
    if (pattern.size() > fill_bytes || (pattern.size() == 1 && row >= long_row)) {
        return copy_each(to, pattern.data(), {move.rect, move.to, {}},
                         [&](std::byte* first, const std::byte*) { repeat(first, row, pattern); });
    }
    alignas(64) std::array<std::byte, fill_bytes> block;
    const std::uint64_t bytes = std::min<std::uint64_t>(row, fill_bytes / pattern.size() * pattern.size());
    repeat(block.data(), bytes, pattern);
    // Repeats the block, then fills the rest of each row.
    const std::uint64_t whole = row / bytes;
    const RectPlace blocks{move.to.offset, {bytes, move.to.stride[0]}};
    for (std::uint64_t plane = 0; plane < move.rect.count[1]; ++plane) {
        std::byte* first = to + plane * move.to.stride[1];
        copy_rows(first, block.data(), {{bytes, {whole, move.rect.count[0]}}, blocks, {}}, streaming);
        if (const std::uint64_t left = row - whole * bytes; left != 0) {
            const RectPlace ends{move.to.offset + whole * bytes, move.to.stride};
            copy_rows(first, block.data(), {{left, {move.rect.count[0], 1}}, ends, {}}, streaming);
        }
    }
}

}  // namespace volley::backends
