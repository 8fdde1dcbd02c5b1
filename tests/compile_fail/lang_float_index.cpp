// expect: an index must be an integer scalar
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[0] = data[data[1]]; }
