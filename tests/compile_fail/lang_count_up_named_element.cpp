// expect: assigning to a named element, which holds the value that was read
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) {
    auto count = data[0];
    count++;
}
