// expect: complex numbers have no order
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<complex<float>> data) { auto less = data[0] < data[1]; }
