// expect: && || and ! take Value<bool>: compare the operand, as in x != 0
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<int> data) { auto both = data[0] && data[1]; }
