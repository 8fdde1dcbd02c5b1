// expect: this condition is a Value, which is known only when the kernel runs: use $if, $while
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) {
    Var<float> x = data[0];
    while (x > 0) x -= 1;
}
