// All pairs of 8192 bodies: one invocation per body, a uniform loop over all bodies, arithmetic only.
#include "harness.hpp"
#include "peers.hpp"
#include "worker_pool.hpp"

#include <volley/volley.hpp>

#include <cmath>
#include <random>

namespace volley::bench {
namespace {

constexpr std::size_t count = 8192;
constexpr float softening = 1e-4F;
constexpr double seconds = 5;
constexpr double goal = 0.9;

std::vector<float> random_numbers(unsigned seed, float low, float high) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> pick(low, high);
    std::vector<float> numbers(count);
    for (float& number : numbers) number = pick(engine);
    return numbers;
}

}  // namespace

VOLLEY_BENCH(nbody, "foundation/nbody_8192") {
    const auto accelerate = kernel("nbody", [](Buff<vec4> acceleration, Buff<const vec4> bodies) {
        auto me = bodies[global_id().x];
        auto x = me.x, y = me.y, z = me.z;
        Var<float> ax = 0, ay = 0, az = 0;
        $for (j, 0u, static_cast<unsigned>(count)) {
            auto other = bodies[j];
            auto dx = other.x - x, dy = other.y - y, dz = other.z - z;
            auto inverse = rsqrt(softening + dx * dx + dy * dy + dz * dz);
            auto force = other.w * inverse * inverse * inverse;
            ax += force * dx;
            ay += force * dy;
            az += force * dz;
        }
        acceleration[global_id().x] = make_vec(ax, ay, az, 0.0F);
    });

    const std::vector<float> x = random_numbers(1, -1, 1), y = random_numbers(2, -1, 1),
                             z = random_numbers(3, -1, 1);
    const std::vector<float> mass = random_numbers(4, 0.5F, 1.5F);
    std::vector<float> ax(count), ay(count), az(count);
    const peer::Bodies plain{x.data(),  y.data(),  z.data(),  mass.data(),
                             ax.data(), ay.data(), az.data(), count};

    std::vector<vec4> packed(count);
    for (std::size_t i = 0; i < count; ++i) packed[i] = vec4(x[i], y[i], z[i], mass[i]);
    const Buffer<vec4> bodies = as_buffer(packed);
    const Buffer<vec4> acceleration(count);

    const std::vector<double> best =
        race({{"volley", [&] { accelerate(acceleration, bodies).wait(); }},
              {"plain-c++",
               [&] {
                   workers().split(count, [&](std::size_t begin, std::size_t end) {
                       peer::accelerate(plain, softening, begin, end);
                   });
               }}},
             seconds);

    const std::vector<vec4> ours = acceleration.read(0);
    for (std::size_t i = 0; i < count; i += 97) {
        const float size = std::abs(ax[i]) + std::abs(ay[i]) + std::abs(az[i]);
        check(std::abs(ours[i].x - ax[i]) + std::abs(ours[i].y - ay[i]) + std::abs(ours[i].z - az[i]) <
                  1e-3F * size,
              "n-body accelerations");
    }
    const auto speed = [&](std::size_t k) { return static_cast<double>(count) * count / best[k] * 1e-9; };
    report.add(giga_interactions, speed(0), "plain-c++", speed(1), goal);
}

}  // namespace volley::bench
