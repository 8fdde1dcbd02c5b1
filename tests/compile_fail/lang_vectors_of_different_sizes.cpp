// expect: values of different types are combined here: convert one with cast<T>(v)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<vec2> a, Buff<vec3> b) { b[0] = b[0] + a[0]; }
