// Array operations on 16 Mi elements against plain C++ on all cores. Figures count each element as read once
// and written once.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers_arrays.hpp"

#include <volley/algorithms/gather.hpp>
#include <volley/algorithms/masked_sum.hpp>
#include <volley/algorithms/random.hpp>
#include <volley/algorithms/ranges.hpp>
#include <volley/algorithms/rearrange.hpp>
#include <volley/volley.hpp>

#include <complex>

namespace volley::bench {
namespace {

constexpr std::size_t array_side = 4096;
constexpr std::size_t array_count = array_side * array_side;
constexpr double array_seconds = 2;
constexpr double array_goal = 0.9;

double array_speed(double seconds) { return 1e-9 * 2 * sizeof(float) * array_count / seconds; }

void race_arrays(Report& report, const std::function<void()>& run, const std::function<void()>& plain) {
    const std::vector<double> best = race({{"volley", run}, {"plain-c++", plain}}, array_seconds);
    report.add(gigabytes, array_speed(best[0]), "plain-c++", array_speed(best[1]), array_goal);
}

/// A square image of Volley's, and one of the peer with room for a border.
struct Images {
    Buffer<float> from = random::uniform<float>({array_side, array_side}, {.seed = 1});
    HugeArray<float> plain_from{array_count, 1.F};
    HugeArray<float> plain_to{array_count + 16 * array_side, 0.F};
};

}  // namespace

VOLLEY_BENCH(flip_columns, "algorithms/flip_axis_1_of_4096x4096") {
    const Images images;
    const Buffer<float> to(images.from.shape());
    race_arrays(
        report, [&] { flip(to, images.from, {.axes = {1}}).wait(); },
        [&] {
            workers().split(array_side, [&](std::size_t begin, std::size_t end) {
                peer::flip_rows(images.plain_to.data(), images.plain_from.data(), array_side, begin, end);
            });
        });
}

VOLLEY_BENCH(roll_columns, "algorithms/roll_axis_1_of_4096x4096") {
    const Images images;
    const Buffer<float> to(images.from.shape());
    race_arrays(
        report, [&] { roll(to, images.from, {.shifts = {5}}).wait(); },
        [&] {
            workers().split(array_side, [&](std::size_t begin, std::size_t end) {
                peer::roll_rows(images.plain_to.data(), images.plain_from.data(), array_side, 5, begin, end);
            });
        });
}

VOLLEY_BENCH(pad_edges, "algorithms/pad_edge_of_4096x4096") {
    const Images images;
    const Buffer<float> to({array_side + 6, array_side + 6});
    race_arrays(
        report,
        [&] {
            pad(to, images.from, {.widths = {{3, 3}}, .mode = PadMode::Edge}).wait();
        },
        [&] {
            workers().split(array_side + 6, [&](std::size_t begin, std::size_t end) {
                peer::pad_rows(images.plain_to.data(), images.plain_from.data(), array_side, array_side, 3,
                               begin, end);
            });
        });
}

VOLLEY_BENCH(take_random, "algorithms/take_random_elements") {
    const Images images;
    const Buffer<u32> indices =
        random::integers<u32>(array_count, {.seed = 2, .low = 0, .high = array_count});
    const Buffer<float> to(array_count), from = images.from.reshape({array_count});
    HugeArray<u32> plain_indices(array_count, 0U);
    indices.read_into(plain_indices.span(), 0);
    race_arrays(
        report, [&] { take(to, from, indices).wait(); },
        [&] {
            workers().split(array_count, [&](std::size_t begin, std::size_t end) {
                peer::take_elements(images.plain_to.data(), images.plain_from.data(), plain_indices.data(),
                                    begin, end);
            });
        });
}

VOLLEY_BENCH(scatter_add_random, "algorithms/scatter_add_to_65536_elements") {
    constexpr std::size_t bins = 65536;
    const Buffer<u32> indices = random::integers<u32>(array_count, {.seed = 3, .low = 0, .high = bins});
    const Buffer<int> values = ones<int>({array_count}), to = zeros<int>({bins});
    HugeArray<u32> plain_indices(array_count, 0U);
    indices.read_into(plain_indices.span(), 0);
    const HugeArray<int> plain_values(array_count, 1), plain_to(bins, 0);
    race_arrays(
        report, [&] { scatter_add(to, indices, values).wait(); },
        [&] {
            workers().split(array_count, [&](std::size_t begin, std::size_t end) {
                peer::add_atomically(plain_to.data(), plain_indices.data(), plain_values.data(), begin, end);
            });
        });
}

VOLLEY_BENCH(sum_masked, "algorithms/masked_sum_of_4096x2048_complex") {
    using Complex = std::complex<float>;
    constexpr std::size_t width = array_side / 2;
    const Buffer<Complex> from = full({array_side, width}, Complex(1, 2));
    const Buffer<float> weights = where(arange(u32{array_side}) % 4U == 0U, 0.F, 1.F);
    const Buffer<Complex> to(width);
    masked_sum(to, from, weights).wait();
    check(to.read(0) == std::vector<Complex>(width, Complex(3072, 6144)), "a masked sum");
    const Images images;
    const std::vector<float> plain_weights = weights.read(0);
    race_arrays(
        report, [&] { masked_sum(to, from, weights).wait(); },
        [&] {
            workers().split(width, [&](std::size_t begin, std::size_t end) {
                peer::sum_weighted(images.plain_to.data(), images.plain_from.data(), plain_weights.data(),
                                   width, array_side, begin, end);
            });
        });
}

}  // namespace volley::bench
