// Algorithms that are limited by memory: transposes against copies, random fills against fills.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers.hpp"
#include "peers_reduce.hpp"

#include <volley/algorithms/random.hpp>
#include <volley/algorithms/transpose.hpp>
#include <volley/volley.hpp>

#include <algorithm>

namespace volley::bench {
namespace {

constexpr double arrays_seconds = 3;
constexpr double transpose_goal = 0.7;
constexpr double fill_goal = 0.5;

}  // namespace

// Both figures count each element as read once and written once.
VOLLEY_BENCH(transpose_square, "algorithms/transpose_4096x4096_f32") {
    constexpr std::size_t side = 4096;
    std::vector<float> values(side * side);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    const Buffer<float> from = as_buffer(values, Shape{side, side});
    const Buffer<float> to(Shape{side, side});
    const auto run = [&] { transpose(to, from).wait(); };
    run();
    const std::vector<float> got = to.read(0);
    for (std::size_t i = 0; i < got.size(); i += 997)
        check(got[i] == values[i % side * side + i / side], "a transpose");

    const HugeArray<float> host_from(values.size(), 1.0F), host_to(values.size(), 0.0F);
    const std::vector<double> best =
        race({{"volley", run},
              {"memcpy",
               [&] {
                   workers().split(values.size(), [&](std::size_t begin, std::size_t end) {
                       peer::copy_bytes(host_to.data() + begin, host_from.data() + begin,
                                        (end - begin) * sizeof(float));
                   });
               }}},
             arrays_seconds);
    const auto speed = [&](std::size_t k) { return 2e-9 * static_cast<double>(host_to.bytes()) / best[k]; };
    report.add(gigabytes, speed(0), "memcpy", speed(1), transpose_goal);
}

VOLLEY_BENCH(random_uniform, "algorithms/random_uniform_f32") {
    constexpr std::size_t fill_count = std::size_t{1} << 26;
    const Buffer<float> to(fill_count);
    const auto run = [&] { random::uniform(to, {.seed = 7}).wait(); };
    run();
    const std::vector<float> got = to.read(0);
    check(std::all_of(got.begin(), got.end(), [](float x) { return x >= 0 && x < 1; }), "a random fill");

    const HugeArray<float> host(fill_count, 0.0F);
    const std::vector<double> best =
        race({{"volley", run},
              {"fill",
               [&] {
                   workers().split(fill_count, [&](std::size_t begin, std::size_t end) {
                       peer::stream_fill(host.data(), 1.0F, begin, end);
                   });
               }}},
             arrays_seconds);
    const auto speed = [&](std::size_t k) { return 1e-9 * static_cast<double>(host.bytes()) / best[k]; };
    report.add(gigabytes, speed(0), "plain-c++ fill", speed(1), fill_goal);
}

}  // namespace volley::bench
