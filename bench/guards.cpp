// Guards in the interior of a grid: a 3-point stencil whose loads are guarded by select, against the same
// with clamped indices and without borders, in cache and from memory.
#include "harness.hpp"

#include <volley/volley.hpp>

namespace volley::bench {
namespace {

constexpr double seconds = 2;
constexpr double goal = 0.9;

void compare(Report& report, u32 n, u32 repeats) {
    const auto guarded = kernel("guarded", [](Buff<float> out, Buff<const float> in, Const<u32> count) {
        const auto i = global_id().x;
        const auto left = select(i > 0u, in[i - 1u], 0.0F);
        const auto right = select(i + 1u < count, in[i + 1u], 0.0F);
        out[i] = 0.25F * (left + right) + 0.5F * in[i];
    });
    const auto clamped = kernel("clamped", [](Buff<float> out, Buff<const float> in, Const<u32> count) {
        const auto i = cast<i32>(global_id().x);
        const auto last = cast<i32>(count) - 1;
        const auto left = in[max(i - 1, 0)];
        const auto right = in[min(i + 1, last)];
        out[i] = 0.25F * (left + right) + 0.5F * in[i];
    });
    const auto plain = kernel("unguarded", [](Buff<float> out, Buff<const float> in) {
        const auto i = global_id().x + 1u;
        out[i] = 0.25F * (in[i - 1u] + in[i + 1u]) + 0.5F * in[i];
    });
    Buffer<float> in(n);
    Buffer<float> out(n);
    in.fill(1.0F);
    guarded.over(n)(out, in, n);
    const std::vector<float> values = out.read(0);
    check(values.front() == 0.75F && values[n / 2] == 1.0F && values.back() == 0.75F,
          "a stencil with guards");
    const auto repeat = [&](const auto& launch) {
        return [&launch, repeats] {
            for (u32 k = 1; k < repeats; ++k) launch();
            launch().wait();
        };
    };
    const auto guards = [&] { return guarded.over(n)(out, in, n); };
    const auto clamps = [&] { return clamped.over(n)(out, in, n); };
    const auto whole = [&] { return plain.over(n - 2)(out, in); };
    const std::vector<double> best =
        race({{"guards", repeat(guards)}, {"clamped indices", repeat(clamps)}, {"no guards", repeat(whole)}},
             seconds);
    const auto speed = [&](std::size_t k) { return 1e-9 * n * repeats / best[k]; };
    const std::string size = n <= (1U << 20) ? "2^18 elements" : "2^25 elements";
    report.add(giga_elements, speed(0), "clamped indices", speed(1), goal, size);
    report.add(giga_elements, speed(0), "no guards", speed(2), goal, size);
}

VOLLEY_BENCH(guarded_stencil, "foundation/guarded_stencil") {
    compare(report, 1U << 18, 50);
    compare(report, 1U << 25, 1);
}

}  // namespace
}  // namespace volley::bench
