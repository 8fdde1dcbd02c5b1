// expect to compile
#include <volley/volley.hpp>

#include <vector>

using namespace volley;

auto scale = kernel(
    "scale", [](Buff<float> data, Const<float> alpha) { data[global_id().x] = data[global_id().x] * alpha; });

void run(Buffer<float> data) {
    scale(data, 2.f);
    scale.over({8, 8}).local({4, 4}).on(queue(0))(data, 2);
    scale.groups(4)(data, half(2.f));
}
