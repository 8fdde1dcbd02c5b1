// Stream loops that compilers vectorise.
#include "peers.hpp"

namespace volley::bench::peer {

void copy(float* __restrict to, const float* __restrict from, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] = from[i];
}

void scale(float* data, float alpha, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) data[i] *= alpha;
}

void saxpy(float* __restrict y, const float* __restrict x, float a, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) y[i] = a * x[i] + y[i];
}

void triad(float* __restrict to, const float* __restrict a, const float* __restrict b, float s,
           std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] = a[i] + s * b[i];
}

}  // namespace volley::bench::peer
