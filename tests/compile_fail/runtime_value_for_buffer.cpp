// expect: this argument must be a Buffer
#include <volley/volley.hpp>

#include <vector>

using namespace volley;

auto scale = kernel(
    "scale", [](Buff<float> data, Const<float> alpha) { data[global_id().x] = data[global_id().x] * alpha; });

void run(Buffer<float> data) { scale(1.f, 2.f); }
