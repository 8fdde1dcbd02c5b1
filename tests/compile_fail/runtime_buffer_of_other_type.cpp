// expect: this buffer has another element type than the kernel's parameter
#include <volley/volley.hpp>

#include <vector>

using namespace volley;

auto scale = kernel(
    "scale", [](Buff<float> data, Const<float> alpha) { data[global_id().x] = data[global_id().x] * alpha; });

void run(Buffer<float> data) { scale(Buffer<int>(4), 2.f); }
