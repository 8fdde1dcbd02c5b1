// expect: the extents of a Shared array must be host integers
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<float> data) {
    Shared<float> tile(local_size().x, 2);
    data[0] = tile[0][0];
}
