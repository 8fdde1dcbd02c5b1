// expect: a kernel's parameters need types (Buff<float> data, not auto data)
#include <volley/lang/lang.hpp>

using namespace volley;

auto kernel = lang::trace_kernel("k", [](auto data) { data[0] = 1.f; });
