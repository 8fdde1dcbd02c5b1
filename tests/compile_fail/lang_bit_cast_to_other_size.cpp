// expect: bit_cast<T>(v) needs two numeric types of the same size
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { auto bits = bit_cast<u64>(data[0]); }
