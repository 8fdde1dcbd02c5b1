// expect: this condition is a Value, which is known only when the kernel runs: use $if
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) {
    if (data[0] > 0) data[1] = 1.f;
}
