// expect: a named element holds the value that was read and cannot be assigned to
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) {
    auto element = data[0];
    element = 1.f;
}
