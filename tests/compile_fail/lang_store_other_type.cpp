// expect: values of different types are combined here: convert one with cast<T>(v)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) { data[0] = global_id().x; }
