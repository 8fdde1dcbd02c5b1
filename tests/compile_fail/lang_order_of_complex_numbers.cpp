// expect: complex numbers cannot be ordered
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<complex<float>> data) { auto less = data[0] < data[1]; }
