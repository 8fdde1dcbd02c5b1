// expect: or select(c, a, b) instead of if, while or ?:
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[1] = data[0] > 0 ? 1.f : 2.f; }
