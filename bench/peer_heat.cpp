// A step of heat conduction in plain C++.
#include "peers.hpp"

namespace volley::bench::peer {

void heat(float* to, const float* from, std::size_t width, std::size_t begin, std::size_t end) {
    for (std::size_t y = begin; y < end; ++y) {
        const float* row = from + y * width;
        const float* above = row - width;
        const float* below = row + width;
        float* out = to + y * width;
        for (std::size_t x = 1; x + 1 < width; ++x)
            out[x] = row[x] * 0.5F + (above[x] + below[x] + row[x - 1] + row[x + 1]) * 0.125F;
    }
}

}  // namespace volley::bench::peer
