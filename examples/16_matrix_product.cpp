// Lesson 16: matrix products. A step of a small neural network in one product, a chain of products that
// predicts the weather, and the speed of a large product.
#include <volley/volley.hpp>

#include <cmath>
#include <iomanip>
#include <iostream>
#include <vector>

using namespace volley;

int main() {
    // Tomorrow's weather depends on today's: each row of the matrix has the probabilities of sun, clouds and
    // rain after the day that the row stands for.
    const Buffer<float> tomorrow = as_buffer(std::vector{0.7F, 0.2F, 0.1F,  //
                                                         0.3F, 0.4F, 0.3F,  //
                                                         0.2F, 0.4F, 0.4F},
                                             Shape{3, 3});
    Buffer<float> after = tomorrow;
    std::cout << "after a sunny day:\n" << std::fixed << std::setprecision(3);
    for (int days = 1; days <= 16; days *= 2) {
        const std::vector<float> now = after.read(0);
        std::cout << std::setw(4) << days << (days == 1 ? " day:  " : " days: ") << "sun " << now[0]
                  << ", clouds " << now[1] << ", rain " << now[2] << '\n';
        after = matmul(after, after);  // twice as many days
    }

    // A vector is a row as the first operand. Operands are any source: here a transposed, lazy array.
    const Buffer<float> today = as_buffer(std::vector{0.F, 0.F, 1.F});
    const Buffer<float> day_after = matmul(matmul(today, tomorrow), tomorrow);
    const Buffer<float> same = matmul(transpose(matmul(tomorrow, tomorrow)), today);
    const float difference = reduce::max(abs(lazy(day_after) - same)).item();

    // A layer of a neural network: 1000 samples of 64 inputs, 128 outputs. A store map adds the bias and
    // clamps the results in the kernel of the product.
    const Buffer<float> samples = random::normal<float>({1000, 64}, {.seed = 16});
    const Buffer<float> weights = random::normal<float>({64, 128}, {.seed = 17, .stddev = 0.125});
    const Buffer<float> bias = linspace(-1.F, 1.F, 128);
    Buffer<float> outputs({1000, 128});
    const auto bias_and_relu =
        store_map([](Value<u32> y, Value<u32> x, Value<float> sum, Buff<float> to, Buff<const float> added) {
            to(y, x) = max(sum + added[x], 0.F);
        });
    matmul(bias_and_relu.over(outputs.shape())(outputs, bias), samples, weights);
    const Buffer<float> plain = max(lazy(matmul(samples, weights)) + bias, 0.F);
    const float active = reduce::mean(convert<float>(lazy(outputs) > 0.F)).item();
    std::cout << "outputs above zero: " << 100 * active << " %\n";

    // A large product, timed. The first call compiles the kernels.
    constexpr int n = 512;
    const Buffer<float> a = random::uniform<float>({n, n}, {.seed = 18}),
                        b = random::uniform<float>({n, n}, {.seed = 19});
    Buffer<float> c({n, n});
    matmul(c, a, b).wait();
    const Event start = mark();
    matmul(c, a, b);
    const double seconds = elapsed_seconds(start, mark());
    std::cout << n << " x " << n << ": " << seconds * 1e3 << " ms, " << 2e-9 * n * n * n / seconds
              << " GFLOP/s\n";

    double exact = 0;
    for (int k = 0; k < n; ++k)
        exact += double{a.read(0)[static_cast<std::size_t>(k)]} * b.read(0)[static_cast<std::size_t>(k * n)];
    const bool good = difference < 1e-6F && outputs.read(0) == plain.read(0) &&
                      std::abs(c.read(0)[0] - exact) < 1e-4 * exact;
    return good ? 0 : 1;
}
