// expect: the condition of $if and $while must be a Value<bool>: compare it, as in x != 0
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<int> data) {
    $if (data[0]) {
        data[1] = 1;
    }
}
