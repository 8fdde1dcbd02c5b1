// expect: this function takes floats: convert with cast<float>(v)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<int> data) { auto s = sin(data[0]); }
