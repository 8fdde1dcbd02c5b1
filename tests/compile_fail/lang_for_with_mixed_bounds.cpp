// expect: values of different types are combined here: convert one with cast<T>(v)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<int> data) {
    $for (k, data[0], global_size().x) {
        data[1] = 1;
    }
}
