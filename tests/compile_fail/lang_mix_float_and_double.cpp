// expect: values of different types are combined here: convert one with cast<T>(v)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> a, Buff<double> b) { b[0] = a[0] + b[0]; }
