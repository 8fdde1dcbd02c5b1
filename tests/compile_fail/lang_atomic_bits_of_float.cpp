// expect: atomic bit operations take only integers
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data.atomic(0).bit_or(1.f); }
