// expect: a Value cannot be assigned to: declare a Var<T>
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) {
    auto sum = data[0] + data[1];
    sum += data[2];
}
