// expect: this operator takes only integers: use mod(a, b) or fmod(a, b) for floats
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[0] = data[0] % data[1]; }
