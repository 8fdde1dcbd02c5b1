// expect: this buffer is read-only: declare the parameter as Buff<T>
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<const int> data) { data[0]++; }
