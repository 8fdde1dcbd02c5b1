// Histograms and order statistics against plain C++ and std::nth_element on all threads.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers_select.hpp"
#include "peers_sort.hpp"
#include "worker_pool.hpp"

#include <volley/algorithms/histogram.hpp>
#include <volley/algorithms/percentile.hpp>
#include <volley/volley.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <random>

namespace volley::bench {
namespace {

constexpr double order_seconds = 3;
constexpr unsigned bin_count = 256;

/// Adds a row: `volley`, which stores to `counts`, and a peer that adds `values` to bins on one thread.
template <class T>
void compare_histograms(Report& report, const std::vector<T>& values, const Buffer<u32>& counts,
                        const std::function<void()>& volley,
                        void (*peer)(unsigned*, const T*, std::size_t, std::size_t)) {
    std::vector<unsigned> expected(bin_count);
    std::mutex mutex;
    const auto plain = [&] {
        std::fill(expected.begin(), expected.end(), 0U);
        workers().split(values.size(), [&](std::size_t begin, std::size_t end) {
            unsigned bins[bin_count] = {};
            peer(bins, values.data(), begin, end);
            const std::scoped_lock lock(mutex);
            for (unsigned b = 0; b < bin_count; ++b) expected[b] += bins[b];
        });
    };
    volley();
    plain();
    check(counts.read(0) == expected, "a histogram");
    const std::vector<double> best = race({{"volley", volley}, {"plain C++", plain}}, order_seconds);
    const auto speed = [&](double seconds) { return 1e-9 * static_cast<double>(values.size()) / seconds; };
    report.add(giga_elements, speed(best[0]), "plain C++, all threads", speed(best[1]), 0.9);
}

}  // namespace

VOLLEY_BENCH(histogram_256, "algorithms/histogram_256") {
    std::vector<unsigned char> values(std::size_t{1} << 26);
    std::minstd_rand random(1);  // NOLINT(cert-msc51-cpp): the same bytes in every run
    for (unsigned char& value : values) value = static_cast<unsigned char>(random() >> 8U);
    const Buffer<u8> data = as_buffer(values);
    const Buffer<u32> counts(bin_count);
    compare_histograms(
        report, values, counts, [&] { histogram(counts, data, key_bins(bin_count)).wait(); },
        peer::histogram_bytes);
}

VOLLEY_BENCH(histogram_of_floats, "algorithms/histogram_even") {
    std::vector<float> values(std::size_t{1} << 24);
    std::minstd_rand random(1);  // NOLINT(cert-msc51-cpp): the same numbers in every run
    for (float& value : values) value = static_cast<float>(random() % 1'000'001) * 1e-6F;
    const Buffer<float> data = as_buffer(values);
    const Buffer<u32> counts(bin_count);
    compare_histograms(
        report, values, counts, [&] { histogram(counts, data, even_bins(bin_count, 0, 1)).wait(); },
        peer::histogram_even);
}

VOLLEY_BENCH(median_rows, "algorithms/median_rows") {
    constexpr std::size_t rows = 4096, length = 1024;
    std::vector<float> values(rows * length);
    std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same elements in every run
    std::normal_distribution<float> distribution;
    for (float& value : values) value = distribution(random);
    const Buffer<float> data = as_buffer(values, Shape{rows, length});
    const Buffer<float> medians(rows);
    const auto run = [&] { median(medians, data, {.axis = 1}).wait(); };
    std::vector<float> expected(rows);
    const auto plain = [&] {
        workers().for_each(rows, 64, [&](std::size_t begin, std::size_t end) {
            peer::median_rows(expected.data(), values.data(), length, begin, end);
        });
    };
    run();
    plain();
    const std::vector<float> got = medians.read(0);
    bool right = true;
    for (std::size_t r = 0; r < rows; ++r) right = right && std::abs(got[r] - expected[r]) < 1e-6F;
    check(right, "the medians of rows");
    const std::vector<double> best = race({{"volley", run}, {"std::nth_element", plain}}, order_seconds);
    report.add(milliseconds, 1e3 * best[0], "std::nth_element, all threads", 1e3 * best[1], 2);
}

}  // namespace volley::bench
