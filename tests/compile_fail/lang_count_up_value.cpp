// expect: a Value cannot be assigned to: declare a Var<T>
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) {
    auto k = global_id().x + 1u;
    ++k;
    data[k] = 0.f;
}
