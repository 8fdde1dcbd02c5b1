// The sine function of the standard library, element by element.
#include "peers.hpp"

#include <cmath>

namespace volley::bench::peer {

void sine(float* __restrict to, const float* __restrict from, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] = std::sin(from[i]);
}

}  // namespace volley::bench::peer
