// Array operations in plain C++.
#include "peers_arrays.hpp"

#include <cstring>

namespace volley::bench::peer {

void flip_rows(float* to, const float* from, std::size_t width, std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
        float* const row = to + y * width;
        const float* const last = from + (y + 1) * width - 1;
        for (std::size_t x = 0; x < width; ++x) row[x] = *(last - x);
    }
}

void roll_rows(float* to, const float* from, std::size_t width, std::size_t shift, std::size_t begin,
               std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
        std::memcpy(to + y * width + shift, from + y * width, (width - shift) * sizeof(float));
        std::memcpy(to + y * width, from + (y + 1) * width - shift, shift * sizeof(float));
    }
}

void pad_rows(float* to, const float* from, std::size_t width, std::size_t height, std::size_t border,
              std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
        const std::size_t nearest = y < border ? 0 : y - border < height ? y - border : height - 1;
        float* row = to + y * (width + 2 * border);
        const float* const source = from + nearest * width;
        for (std::size_t x = 0; x < border; ++x) *row++ = source[0];
        std::memcpy(row, source, width * sizeof(float));
        row += width;
        for (std::size_t x = 0; x < border; ++x) *row++ = source[width - 1];
    }
}

void take_elements(float* to, const float* from, const unsigned* indices, std::size_t begin,
                   std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) to[k] = from[indices[k]];
}

void add_atomically(int* to, const unsigned* indices, const int* values, std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k)
        __atomic_fetch_add(to + indices[k], values[k], __ATOMIC_RELAXED);
}

void sum_weighted(float* to, const float* from, const float* weights, std::size_t width, std::size_t height,
                  std::size_t begin, std::size_t end) {
    for (std::size_t x = 2 * begin; x < 2 * end; ++x) to[x] = 0;
    for (std::size_t y = 0; y < height; ++y) {
        const float weight = weights[y];
        if (weight == 0) continue;
        const float* const row = from + 2 * y * width;
        for (std::size_t x = 2 * begin; x < 2 * end; ++x) to[x] += weight * row[x];
    }
}

}  // namespace volley::bench::peer
