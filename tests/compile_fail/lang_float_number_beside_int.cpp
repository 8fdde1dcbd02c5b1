// expect: a floating-point number is combined with an integer value
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<int> data) { data[0] = data[0] * 0.5; }
