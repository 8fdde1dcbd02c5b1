// Selections of half of 64 Mi floats, against plain C++ on all threads, which counts and then copies. Figures
// count the input as read once and the selected elements as written once.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers_select.hpp"

#include <volley/algorithms/select.hpp>
#include <volley/volley.hpp>

#include <cstring>
#include <vector>

namespace volley::bench {
namespace {

constexpr std::size_t select_count = std::size_t{1} << 26;
constexpr double select_seconds = 5;
constexpr double select_goal = 0.9;
constexpr float select_limit = 0.5F;

/// Numbers from 0 to 1 without a pattern.
std::vector<float> unpredictable_numbers() {
    std::vector<float> values(select_count);
    for (std::size_t i = 0; i < select_count; ++i) {
        unsigned x = static_cast<unsigned>(i) * 747796405U + 2891336453U;
        x = ((x >> ((x >> 28U) + 4U)) ^ x) * 277803737U;
        values[i] = static_cast<float>((x >> 22U ^ x) >> 8U) / static_cast<float>(1U << 24U);
    }
    return values;
}

/// Copies the elements above the limit; each thread counts and copies one piece. Returns their number.
std::size_t select_on_threads(float* to, const float* from) {
    const std::size_t pieces = workers().threads(), length = select_count / pieces;
    std::vector<std::size_t> counts(pieces + 1);
    const auto end_of = [&](std::size_t p) { return p + 1 == pieces ? select_count : (p + 1) * length; };
    workers().for_each(pieces, 1, [&](std::size_t p, std::size_t) {
        counts[p + 1] = peer::count_above(from, select_limit, p * length, end_of(p));
    });
    for (std::size_t p = 0; p < pieces; ++p) counts[p + 1] += counts[p];
    workers().for_each(pieces, 1, [&](std::size_t p, std::size_t) {
        peer::copy_above(to + counts[p], from, select_limit, p * length, end_of(p));
    });
    return counts[pieces];
}

}  // namespace

VOLLEY_BENCH(copy_if_f32, "algorithms/copy_if_f32") {
    const std::vector<float> values = unpredictable_numbers();
    const Buffer<float> from = as_buffer(values), to(select_count);
    const Buffer<u32> count(1);
    const auto run = [&] {
        copy_if(to, count, from, [](Value<float> x) { return x > select_limit; }).wait();
    };
    run();
    const HugeArray<float> host_from(select_count, 0), host_to(select_count, 0);
    std::memcpy(host_from.data(), values.data(), host_from.bytes());
    const std::size_t selected = select_on_threads(host_to.data(), host_from.data());
    const std::vector<float> result = to.read(0);
    check(
        count.item() == selected && std::memcmp(result.data(), host_to.data(), selected * sizeof(float)) == 0,
        "a selection");
    const std::vector<double> best =
        race({{"volley", run},
              {"plain C++, 2 passes", [&] { select_on_threads(host_to.data(), host_from.data()); }}},
             select_seconds);
    const double gigabytes_moved = 1e-9 * sizeof(float) * static_cast<double>(select_count + selected);
    report.add(gigabytes, gigabytes_moved / best[0], "plain C++, 2 passes", gigabytes_moved / best[1],
               select_goal);
}

}  // namespace volley::bench
