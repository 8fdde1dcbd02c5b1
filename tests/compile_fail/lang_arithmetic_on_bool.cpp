// expect: bool has no arithmetic: use select(c, a, b), or cast<T>(c)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<bool> data) { auto sum = data[0] + data[1]; }
