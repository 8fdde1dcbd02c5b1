// expect: a bool stands where a number is needed
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[0] = data[0] * true; }
