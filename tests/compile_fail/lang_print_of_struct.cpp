// expect: print takes only Values, numbers and constants
#include <volley/lang/lang.hpp>

using namespace volley;

struct Pair {
    float a, b;
};

void body() { print("{}", Pair{1, 2}); }
