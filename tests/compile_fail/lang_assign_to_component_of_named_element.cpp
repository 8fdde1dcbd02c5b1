// expect: a named element holds the value that was read and cannot be assigned to
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<vec3> data) {
    auto element = data[0];
    element.x = 1.f;
}
