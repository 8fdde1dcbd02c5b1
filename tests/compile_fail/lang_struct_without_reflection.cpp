// expect: this type cannot be used in kernels
#include <volley/lang/lang.hpp>

using namespace volley;

struct Particle {
    float mass;
};

void body(Buff<Particle> data) { auto particle = data[0]; }
