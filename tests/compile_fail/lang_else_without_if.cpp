// expect: $else { data[1] = 1.f
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) {
    $else { data[1] = 1.f; }
}
