// A Mandelbrot image: neighbouring points leave the loop at different times, so lanes diverge.
#include "harness.hpp"
#include "peers.hpp"
#include "worker_pool.hpp"

#include <volley/volley.hpp>

namespace volley::bench {
namespace {

constexpr unsigned size = 1024;
constexpr double seconds = 5;
constexpr double goal = 3;
constexpr peer::Picture picture{size, size, 256, -2.0F, -1.25F, 2.5F / size};

}  // namespace

VOLLEY_BENCH(mandelbrot, "foundation/mandelbrot_1024") {
    const auto draw = kernel("mandelbrot", [](Buff<u32> iterations) {
        auto column = global_id().x, row = global_id().y;
        auto cx = picture.left + picture.step * cast<float>(column);
        auto cy = picture.top + picture.step * cast<float>(row);
        Var<float> x = 0, y = 0;
        Var<u32> n = 0;
        $while (n < picture.limit) {
            auto xx = x * x, yy = y * y;
            $if (xx + yy > 4) {
                $break;
            }
            y = 2 * x * y + cy;
            x = xx - yy + cx;
            n += 1;
        }
        iterations[row * size + column] = n;
    });

    const Buffer<u32> ours(std::size_t{size} * size);
    std::vector<u32> plain(std::size_t{size} * size);
    const auto whole = draw.over({size, size});
    const std::vector<double> best =
        race({{"volley", [&] { whole(ours).wait(); }},
              {"plain-c++",
               [&] {
                   workers().for_each(size, 8, [&](std::size_t begin, std::size_t end) {
                       peer::mandelbrot(plain.data(), picture, begin, end);
                   });
               }}},
             seconds);

    // Points on the edge may differ by rounding.
    const std::vector<u32> result = ours.read(0);
    std::size_t different = 0;
    for (std::size_t i = 0; i < result.size(); ++i) different += result[i] != plain[i] ? 1 : 0;
    check(different < result.size() / 50,
          "the Mandelbrot picture: " + std::to_string(different) + " points differ");
    const auto speed = [&](std::size_t k) { return static_cast<double>(size) * size / best[k] * 1e-6; };
    report.add(mega_pixels, speed(0), "plain-c++", speed(1), goal);
}

}  // namespace volley::bench
