// expect: unused-
// flags: -Wall -Werror
// errors: 1
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[0] == 3.0f; }
