// expect: print takes values and numbers
#include <volley/lang/lang.hpp>

using namespace volley;

struct Pair {
    float a, b;
};

void body() { print("{}", Pair{1, 2}); }
