// expect to compile
#include <volley/lang/lang.hpp>

using namespace volley;

auto scale = lang::trace_kernel("scale", [](Buff<float> data, Const<float> alpha) {
    auto i = global_id().x;
    $if (i < data.size()) {
        data[i] = data[i] * alpha;
    }
});
