// All pairs, with one array per component, so that the inner loop is vectorised. -ffast-math permits
// reordered sums and an estimated, refined root.
#include "peers.hpp"

#include <cmath>

namespace volley::bench::peer {

void accelerate(const Bodies& bodies, float softening, std::size_t begin, std::size_t end) {
    const float* __restrict x = bodies.x;
    const float* __restrict y = bodies.y;
    const float* __restrict z = bodies.z;
    const float* __restrict mass = bodies.mass;
    for (std::size_t i = begin; i < end; ++i) {
        float ax = 0;
        float ay = 0;
        float az = 0;
        for (std::size_t j = 0; j < bodies.count; ++j) {
            const float dx = x[j] - x[i];
            const float dy = y[j] - y[i];
            const float dz = z[j] - z[i];
            const float inverse = 1.0F / std::sqrt(softening + dx * dx + dy * dy + dz * dz);
            const float force = mass[j] * inverse * inverse * inverse;
            ax += force * dx;
            ay += force * dy;
            az += force * dz;
        }
        bodies.ax[i] = ax;
        bodies.ay[i] = ay;
        bodies.az[i] = az;
    }
}

}  // namespace volley::bench::peer
