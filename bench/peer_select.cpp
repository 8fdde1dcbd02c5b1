// Selection and histograms in plain C++.
#include "peers_select.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace volley::bench::peer {

std::size_t count_above(const float* from, float limit, std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    for (std::size_t k = begin; k < end; ++k) count += from[k] > limit ? 1 : 0;
    return count;
}

void copy_above(float* to, const float* from, float limit, std::size_t begin, std::size_t end) {
    std::size_t k = begin;
#if defined(__AVX512F__)
    // The instruction that compresses to memory is slow on some processors.
    const __m512 limits = _mm512_set1_ps(limit);
    for (; k + 16 <= end; k += 16) {
        const __m512 x = _mm512_loadu_ps(from + k);
        const __mmask16 above = _mm512_cmp_ps_mask(x, limits, _CMP_GT_OQ);
        const int count = std::popcount(static_cast<unsigned>(above));
        _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << static_cast<unsigned>(count)) - 1),
                              _mm512_maskz_compress_ps(above, x));
        to += count;
    }
#endif
    // Without a branch, which would be mispredicted often: an element is overwritten by the next one unless
    // it is above the limit. Blocks, so that no element after the last is written.
    float block[256];
    while (k < end) {
        const std::size_t block_end = std::min(end, k + std::size(block));
        std::size_t count = 0;
        for (; k < block_end; ++k) {
            block[count] = from[k];
            count += from[k] > limit ? 1 : 0;
        }
        std::memcpy(to, block, count * sizeof(float));
        to += count;
    }
}

void histogram_bytes(unsigned* bins, const unsigned char* from, std::size_t begin, std::size_t end) {
    // Four tables, so that equal neighbours do not wait for each other.
    unsigned tables[4][256] = {};
    std::size_t k = begin;
    for (; k + 4 <= end; k += 4) {
        for (unsigned t = 0; t < 4; ++t) ++tables[t][from[k + t]];
    }
    for (; k < end; ++k) ++tables[0][from[k]];
    for (unsigned b = 0; b < 256; ++b) bins[b] += tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
}

void histogram_even(unsigned* bins, const float* from, std::size_t begin, std::size_t end) {
    unsigned tables[4][256] = {};
    for (std::size_t k = begin; k < end; ++k) {
        const float x = from[k];
        if (x < 0.F || !(x <= 1.F)) continue;
        const auto bin = static_cast<unsigned>(x * 256.F);
        ++tables[k % 4][bin < 255 ? bin : 255];
    }
    for (unsigned b = 0; b < 256; ++b) bins[b] += tables[0][b] + tables[1][b] + tables[2][b] + tables[3][b];
}

}  // namespace volley::bench::peer
