// expect: a kernel's parameters are Buff<T>, Buff<const T>, Const<T> and Value<T>
#include <volley/lang/lang.hpp>

using namespace volley;

auto kernel = lang::trace_kernel("k", [](Buff<float> data, float x) { data[0] = x; });
