// expect: a number stands where a bool is needed
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<bool> data) { data[0] = 1; }
