// expect: unused-
// flags: -Wall -Werror
// errors: 1
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[0] + data[1] * 2.0f; }
