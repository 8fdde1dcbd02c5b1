// expect: any and all take only bool and vectors of bool: compare the operand, as in v != 0
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<vec2> data) { auto a = all(data[0]); }
