// expect: this buffer is read-only: declare the parameter as Buff<T>
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<const vec3> data) { data[0].x += 1.f; }
