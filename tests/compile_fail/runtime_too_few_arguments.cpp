// expect: wrong number of arguments: a kernel takes one for each parameter of its lambda
#include <volley/volley.hpp>

#include <vector>

using namespace volley;

auto scale = kernel(
    "scale", [](Buff<float> data, Const<float> alpha) { data[global_id().x] = data[global_id().x] * alpha; });

void run(Buffer<float> data) { scale(data); }
