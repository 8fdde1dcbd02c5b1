// Computes point by point, and leaves the loop as soon as a point has escaped.
#include "peers.hpp"

namespace volley::bench::peer {

void mandelbrot(unsigned* iterations, const Picture& picture, std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
        const float cy = picture.top + picture.step * static_cast<float>(row);
        for (unsigned column = 0; column < picture.width; ++column) {
            const float cx = picture.left + picture.step * static_cast<float>(column);
            float x = 0;
            float y = 0;
            unsigned n = 0;
            while (n < picture.limit) {
                const float xx = x * x;
                const float yy = y * y;
                if (xx + yy > 4.0F) break;
                y = 2.0F * x * y + cy;
                x = xx - yy + cx;
                ++n;
            }
            iterations[row * picture.width + column] = n;
        }
    }
}

}  // namespace volley::bench::peer
