// expect: a kernel's buffer parameter is a Buff<T>: Buffer<T> is the host's handle
#include <volley/volley.hpp>

using namespace volley;

void make() {
    (void)kernel("scale", [](Buffer<float> data) { (void)data; });
}
