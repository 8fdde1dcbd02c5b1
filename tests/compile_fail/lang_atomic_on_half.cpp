// expect: atomics take only 32- and 64-bit integers, float and double
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<half> data) { data.atomic(0).add(half(1.f)); }
