// Hand-written copies.
#include "peers.hpp"

#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace volley::bench::peer {

void copy_bytes(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

void stream_bytes(void* to, const void* from, std::size_t bytes) {
#if defined(__AVX__)
    auto* out = static_cast<char*>(to);
    const auto* in = static_cast<const char*>(from);
    const std::size_t head = (64 - reinterpret_cast<std::uintptr_t>(out) % 64) % 64;
    if (bytes >= head + 64) {
        std::memcpy(out, in, head);
        out += head;
        in += head;
        bytes -= head;
        for (; bytes >= 64; bytes -= 64, out += 64, in += 64) {
            const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
            const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + 32));
            _mm256_stream_si256(reinterpret_cast<__m256i*>(out), low);
            _mm256_stream_si256(reinterpret_cast<__m256i*>(out + 32), high);
        }
        _mm_sfence();
    }
    std::memcpy(out, in, bytes);
#else
    std::memcpy(to, from, bytes);
#endif
}

void copy_block_by_rows(float* to, const float* from, const Block& block, std::size_t begin,
                        std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane) {
        for (std::size_t row = 0; row < block.rows; ++row) {
            std::memcpy(to + plane * block.to_plane + row * block.to_row,
                        from + plane * block.from_plane + row * block.from_row,
                        block.columns * sizeof(float));
        }
    }
}

void copy_block_by_floats(float* __restrict to, const float* __restrict from, const Block& block,
                          std::size_t begin, std::size_t end) {
    for (std::size_t plane = begin; plane < end; ++plane) {
        for (std::size_t row = 0; row < block.rows; ++row) {
            float* out = to + plane * block.to_plane + row * block.to_row;
            const float* in = from + plane * block.from_plane + row * block.from_row;
            for (std::size_t column = 0; column < block.columns; ++column) out[column] = in[column];
        }
    }
}

}  // namespace volley::bench::peer
