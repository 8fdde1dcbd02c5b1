// expect to compile
#include <volley/lang/lang.hpp>

// Generic code that takes host numbers and Values, as it is usual for std functions.
template <class T>
auto wave(const T& x) {
    using std::abs;
    using std::sin;
    return abs(sin(x));
}
template <class T>
auto root(const T& x) {
    using namespace std;
    return sqrt(x);
}

void body(volley::Buff<float> data, volley::Const<float> alpha) {
    volley::Var<float> sum = wave(alpha) + wave(1.0f) + root(data[0]);
    sum += wave(data[1]) + root(2.0);
    data[2] = wave(sum) + static_cast<float>(std::sin(1) + std::abs(-2));
}
