// The plain C++ peers of array operations; see peers.hpp for how they are compiled. Each computes the rows,
// or the elements, [begin, end).
#pragma once

#include <cstddef>

namespace volley::bench::peer {

void flip_rows(float* to, const float* from, std::size_t width, std::size_t begin, std::size_t end);
void roll_rows(float* to, const float* from, std::size_t width, std::size_t shift, std::size_t begin,
               std::size_t end);
/// Writes rows of `width + 2 * border` elements of an array with `height` rows, whose edges are repeated.
void pad_rows(float* to, const float* from, std::size_t width, std::size_t height, std::size_t border,
              std::size_t begin, std::size_t end);
void take_elements(float* to, const float* from, const unsigned* indices, std::size_t begin, std::size_t end);
void add_atomically(int* to, const unsigned* indices, const int* values, std::size_t begin, std::size_t end);
/// Sums complex rows, each times its weight, for the columns [begin, end).
void sum_weighted(float* to, const float* from, const float* weights, std::size_t width, std::size_t height,
                  std::size_t begin, std::size_t end);

}  // namespace volley::bench::peer
