// expect: a number is used where a bool is expected
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<bool> data) { data[0] = 1; }
