// expect: values of different types are combined here: convert one with cast<T>(v)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<int> a, Buff<float> b) { b[0] = max(b[0], a[0]); }
