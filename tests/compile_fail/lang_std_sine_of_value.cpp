// expect: volley: std::sin takes only host numbers: use volley::sin
// errors: 1
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[0] = std::sin(data[1]) * 2; }
