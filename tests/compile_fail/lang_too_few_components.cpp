// expect: the arguments have a different number of components than the vector
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<vec3> data) { data[0] = make<vec3>(data[0].x, 1.f); }
