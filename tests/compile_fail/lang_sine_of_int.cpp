// expect: this function takes only floats and vectors of floats: convert with cast<float>(v)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<int> data) { auto s = sin(data[0]); }
