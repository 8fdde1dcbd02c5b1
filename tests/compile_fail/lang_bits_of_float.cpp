// expect: use bit_cast<T>(v) for the bits of a float
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { auto bits = data[0] & data[1]; }
