// The histogram of plain C++.
#include "peers.hpp"

namespace volley::bench::peer {

void histogram(unsigned* bins, const unsigned char* data, std::size_t count) {
    for (unsigned k = 0; k < 256; ++k) bins[k] = 0;
    for (std::size_t k = 0; k < count; ++k) ++bins[data[k]];
}

}  // namespace volley::bench::peer
