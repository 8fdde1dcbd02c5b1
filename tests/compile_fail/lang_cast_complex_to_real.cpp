// expect: a complex value cannot be cast to a real type: use real(v), imag(v) or abs(v)
#include <volley/lang/lang.hpp>

using namespace volley;

void body(Buff<complex<float>> data) { auto x = cast<float>(data[0]); }
