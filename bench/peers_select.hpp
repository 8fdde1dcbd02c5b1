// The peers of scans, selections and histograms.
#pragma once

#include <cstddef>

namespace volley::bench::peer {

#if defined(VOLLEY_BENCH_TBB)
/// std::inclusive_scan(par_unseq) on TBB.
void parallel_scan(int* to, const int* from, std::size_t count);
void parallel_scan(float* to, const float* from, std::size_t count);
#endif

// Selection of the elements above a limit, in two passes that threads can share: count those of [begin, end),
// then copy them to `to`.
[[nodiscard]] std::size_t count_above(const float* from, float limit, std::size_t begin, std::size_t end);
void copy_above(float* to, const float* from, float limit, std::size_t begin, std::size_t end);

// Add the elements of [begin, end) to a histogram: of bytes; of floats in equal bins from 0 to 1.
void histogram_bytes(unsigned* bins, const unsigned char* from, std::size_t begin, std::size_t end);
void histogram_even(unsigned* bins, const float* from, std::size_t begin, std::size_t end);

}  // namespace volley::bench::peer
