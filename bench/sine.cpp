// The sine of an array that fits in the caches.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers.hpp"

#include <volley/volley.hpp>

#include <cmath>

namespace volley::bench {
namespace {

constexpr std::size_t count = std::size_t{1} << 20;
constexpr double seconds = 4;
constexpr double goal = 3;

}  // namespace

VOLLEY_BENCH(sine, "foundation/sin") {
    const auto sine = kernel("sine", [](Buff<float> to, Buff<const float> from) {
        auto i = global_id().x;
        to[i] = sin(from[i]);
    });
    const HugeArray<float> from(count, 0), to(count, 0);
    for (std::size_t i = 0; i < count; ++i)
        from[i] = (static_cast<float>(i * 7919 % count) / count - 0.5F) * 60.0F;
    const Buffer<float> ours_to(count);
    Buffer<float> ours_from(count);
    ours_from.write(from.span());

    const std::vector<double> best =
        race({{"volley", [&] { sine(ours_to, ours_from).wait(); }},
              {"std",
               [&] {
                   workers().split(count, [&](std::size_t begin, std::size_t end) {
                       peer::sine(to.data(), from.data(), begin, end);
                   });
               }}},
             seconds);

    const std::vector<float> result = ours_to.read(0);
    for (std::size_t i = 0; i < count; i += 101) check(std::abs(result[i] - to[i]) < 3e-7F, "a sine");
    const auto speed = [&](std::size_t k) { return count / best[k] * 1e-9; };
    report.add(giga_elements, speed(0), "std", speed(1), goal);
}

}  // namespace volley::bench
