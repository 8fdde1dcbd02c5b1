// Lesson 15: sorting. Sorts the results of a race, ranks the teams, and finds percentiles of measurements.
#include <volley/volley.hpp>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

using namespace volley;

int main() {
    const std::vector<std::string> names{"Ada",    "Grace", "Edsger",  "Barbara",
                                         "Donald", "Alan",  "Frances", "John"};
    const Buffer<float> seconds =
        as_buffer(std::vector{71.2F, 64.8F, 69.9F, 64.8F, 80.1F, 66.3F, 62.0F, 77.7F});
    const Buffer<u32> team = as_buffer(std::vector<u32>{0, 1, 2, 1, 2, 0, 1, 0});

    // argsort() returns indices: element k is the number of the runner at place k. Sorts are stable, so that
    // Grace is before Barbara.
    const Buffer<u32> places = argsort(seconds);
    const Buffer<float> ordered = take(seconds, places);
    const std::vector<u32> runner = places.read(0);
    for (std::size_t k = 0; k < runner.size(); ++k)
        std::cout << k + 1 << ". " << std::setw(8) << std::left << names[runner[k]] << ordered.read(0)[k]
                  << " s\n";

    // sort_by_key() sorts one array by another. Sorted first by time and then, stably, by team, the runners
    // of a team are neighbours, the fastest first. A scan by key ranks them within the team.
    const auto by_team = sort_by_key(take(team, places), places);
    const Buffer<u32> rank =
        scan::inclusive_sum(ones_like(by_team.keys), {.segments = scan::by_key(by_team.keys)});
    for (std::size_t k = 0; k < names.size(); ++k) {
        const u32 number = by_team.keys.read(0)[k], place = rank.read(0)[k];
        std::cout << (place == 1 ? "team " + std::to_string(number) + ": " : ", ")
                  << names[by_team.values.read(0)[k]]
                  << (k + 1 == names.size() || by_team.keys.read(0)[k + 1] != number ? "\n" : "");
    }

    // Large arrays: rows are sorted independently, here a million measurements of four instruments.
    const Buffer<float> noise = random::normal<float>({4, 250000}, {.seed = 15, .mean = 20, .stddev = 3});
    const Buffer<float> sorted = sort(noise, {.axis = 1});
    std::cout << "instrument   5 %   median   95 %\n" << std::fixed << std::setprecision(2);
    const Buffer<float> percentiles = take(sorted, as_buffer(std::vector<u32>{12500, 125000, 237500}));
    const std::vector<float> table = percentiles.read(0);
    for (std::size_t k = 0; k < 4; ++k)
        std::cout << std::setw(10) << std::right << k << std::setw(8) << table[3 * k] << std::setw(8)
                  << table[3 * k + 1] << std::setw(8) << table[3 * k + 2] << '\n';

    // The best ten of all, in descending order.
    const Buffer<float> best = sub(sort(reshape(noise, {1000000}), {.descending = true}), {slice(0, 10)});
    std::cout << "greatest: " << best.read(0)[0] << ", tenth: " << best.read(0)[9] << '\n';

    std::vector<float> expected = noise.read(0);
    for (std::size_t k = 0; k < 4; ++k) {
        const auto row = expected.begin() + static_cast<std::ptrdiff_t>(250000 * k);
        std::sort(row, row + 250000);
    }
    const bool good = sorted.read(0) == expected && runner[1] == 1 && runner[2] == 3 &&
                      best.read(0)[0] == reduce::max(noise).item();
    return good ? 0 : 1;
}
