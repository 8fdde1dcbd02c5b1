// expect: a kernel returns nothing: store results in a buffer
#include <volley/lang/lang.hpp>

using namespace volley;

auto kernel = lang::trace_kernel("k", [](Buff<float> data) { return data[0] * 2; });
