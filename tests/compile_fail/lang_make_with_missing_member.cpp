// expect: make<Struct>(...) takes one value per member
#include <volley/lang/lang.hpp>

using namespace volley;

struct Pair {
    float a, b;
};
VOLLEY_STRUCT(Pair, a, b)

void body(Buff<Pair> data) { data[0] = make<Pair>(1.f); }
