// Lesson 6: structs. A struct has the same memory layout on the host and in kernels.
#include <volley/volley.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace app {

struct Particle {
    volley::vec3 position;
    volley::vec3 velocity;
    float mass;
};
VOLLEY_STRUCT(Particle, position, velocity, mass)

struct World {
    volley::vec3 gravity;
    float floor;
};
VOLLEY_STRUCT(World, gravity, floor)

}  // namespace app

using namespace volley;

int main() {
    // A struct can be the element type of a buffer and the type of a value parameter.
    auto step = kernel("step", [](Buff<app::Particle> particles, Const<app::World> world, Const<float> dt) {
        auto i = global_id().x;
        Var<app::Particle> p = particles[i];
        p.velocity += world.gravity * dt;
        p.position += p.velocity * dt;
        $if (p.position.y < world.floor) {
            p.position.y = world.floor;
            p.velocity.y = -0.5f * p.velocity.y;
        }
        particles[i] = p;
    });

    std::vector<app::Particle> start(1000);
    for (std::size_t i = 0; i < start.size(); ++i) {
        const auto x = static_cast<float>(i);
        start[i] = {vec3(x, 10.0f, 0.0f), vec3(1.0f, 0.0f, 0.0f), 1.0f + x};
    }
    Buffer<app::Particle> particles = as_buffer(start);
    const app::World world{vec3(0.0f, -9.81f, 0.0f), 0.0f};
    for (int i = 0; i < 100; ++i) step(particles, world, 0.01f);

    const std::vector<app::Particle> end = particles.read(0);
    const app::Particle& p = end[7];
    std::printf("particle 7 after one second: (%.3f, %.3f, %.3f), mass %g\n",
                static_cast<double>(p.position.x), static_cast<double>(p.position.y),
                static_cast<double>(p.position.z), static_cast<double>(p.mass));
    // The Euler method computes 10 - 9.81 * 0.01^2 * (1 + 2 + ... + 100)
    const float expected = 10.0f - 9.81f * 0.0001f * 5050.0f;
    const bool right =
        std::abs(p.position.y - expected) < 1e-3f && std::abs(p.position.x - 8.0f) < 1e-3f && p.mass == 8.0f;
    return right ? 0 : 1;
}
