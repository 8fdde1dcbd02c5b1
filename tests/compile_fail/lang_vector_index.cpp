// expect: an index must be an integer scalar: take a component (.x)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[global_id()] = 1.f; }
