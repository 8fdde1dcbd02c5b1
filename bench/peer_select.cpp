// Selection and histograms in plain C++.
#include "peers_select.hpp"

namespace volley::bench::peer {

std::size_t count_above(const float* from, float limit, std::size_t begin, std::size_t end) {
    std::size_t count = 0;
    for (std::size_t k = begin; k < end; ++k) count += from[k] > limit ? 1 : 0;
    return count;
}

void copy_above(float* to, const float* from, float limit, std::size_t begin, std::size_t end) {
    // Without a branch, which would be mispredicted often. The element after the last may be written, too.
    if (begin == end) return;
    std::size_t n = 0;
    std::size_t k = begin;
    for (; k + 1 < end; ++k) {
        if (from[k] > limit) {
            to[n] = from[k];
            ++n;
        }
    }
    if (from[k] > limit) to[n] = from[k];
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
