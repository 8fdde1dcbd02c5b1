// expect: the bounds and the step of $for must be integers of one type
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) {
    $for (k, 0, data[0]) {
        data[1] = 1.f;
    }
}
