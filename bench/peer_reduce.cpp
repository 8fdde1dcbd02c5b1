// Reductions by vectors of the processor's width: eight accumulators hide the latency of an addition.
#include "peers_reduce.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace volley::bench::peer {
namespace {

#if defined(__AVX512F__)
constexpr std::size_t width = 16;
#else
constexpr std::size_t width = 8;
#endif
constexpr std::size_t chains = 8;
constexpr std::size_t block = width * chains;

using Vector [[gnu::vector_size(width * sizeof(float))]] = float;
using UnalignedVector [[gnu::vector_size(width * sizeof(float)), gnu::aligned(4)]] = float;

Vector load(const float* from) { return *reinterpret_cast<const UnalignedVector*>(from); }

struct Add {
    static Vector combine(Vector a, Vector b) { return a + b; }
    static float combine(float a, float b) { return a + b; }
};
struct Least {
    static Vector combine(Vector a, Vector b) { return a < b ? a : b; }
    static float combine(float a, float b) { return a < b ? a : b; }
};

/// Combines all lanes of all chains.
template <class F>
float fold(const Vector (&chain)[chains]) {
    Vector all = chain[0];
    for (std::size_t k = 1; k < chains; ++k) all = F::combine(all, chain[k]);
    float result = all[0];
    for (std::size_t k = 1; k < width; ++k) result = F::combine(result, all[k]);
    return result;
}

template <class F>
float reduce(const float* data, float identity, std::size_t begin, std::size_t end) {
    Vector chain[chains];
    for (Vector& one : chain) one = Vector{} + identity;
    std::size_t i = begin;
    for (; i + block <= end; i += block) {
        for (std::size_t k = 0; k < chains; ++k) chain[k] = F::combine(chain[k], load(data + i + k * width));
    }
    float result = fold<F>(chain);
    for (; i < end; ++i) result = F::combine(result, data[i]);
    return result;
}

}  // namespace

float sum(const float* data, std::size_t begin, std::size_t end) { return reduce<Add>(data, 0, begin, end); }

float least(const float* data, std::size_t begin, std::size_t end) {
    return reduce<Least>(data, __builtin_inff(), begin, end);
}

float dot(const float* a, const float* b, std::size_t begin, std::size_t end) {
    Vector chain[chains] = {};
    std::size_t i = begin;
    for (; i + block <= end; i += block) {
        for (std::size_t k = 0; k < chains; ++k)
            chain[k] += load(a + i + k * width) * load(b + i + k * width);
    }
    float result = fold<Add>(chain);
    for (; i < end; ++i) result += a[i] * b[i];
    return result;
}

void stream_fill(float* to, float value, std::size_t begin, std::size_t end) {
    std::size_t i = begin;
#if defined(__AVX__)
    for (; i < end && i % 8 != 0; ++i) to[i] = value;
    const __m256 values = _mm256_set1_ps(value);
    for (; i + 8 <= end; i += 8) _mm256_stream_ps(to + i, values);
    _mm_sfence();
#endif
    for (; i < end; ++i) to[i] = value;
}

}  // namespace volley::bench::peer
