// Lesson 1: the smallest program. A kernel is a lambda. Calling it runs one invocation for each element of
// the buffer.
#include <volley/volley.hpp>

#include <cstdio>
#include <numeric>
#include <vector>

using namespace volley;

int main() {
    std::vector<float> numbers(1000);
    std::iota(numbers.begin(), numbers.end(), 0.0f);

    auto scale = kernel("scale", [](Buff<float> data, Const<float> alpha) {
        auto i = global_id().x;  // the index of this invocation
        data[i] = data[i] * alpha;
    });

    Buffer<float> buf = as_buffer(numbers);   // copies the numbers to the device
    scale(buf, 2.0f);                         // traces, compiles and launches the kernel; does not block
    std::vector<float> result = buf.read(0);  // waits for the kernel and copies the result back

    for (std::size_t i = 0; i < result.size(); ++i) {
        if (result[i] != 2.0f * numbers[i]) {
            std::printf("element %zu is %g, not %g\n", i, result[i], 2.0f * numbers[i]);
            return 1;
        }
    }
    std::printf("1000 numbers doubled: the last is %g\n", result.back());
    return 0;
}
