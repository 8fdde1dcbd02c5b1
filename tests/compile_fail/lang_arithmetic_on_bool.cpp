// expect: arithmetic on bool is not supported: use select(c, a, b), or cast<T>(c)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<bool> data) { auto sum = data[0] + data[1]; }
