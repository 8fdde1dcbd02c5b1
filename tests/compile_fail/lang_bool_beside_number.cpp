// expect: a bool is used where a number is expected
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[0] = data[0] * true; }
