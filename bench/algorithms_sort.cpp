// Sorts of 16 Mi random elements against the parallel sort of the standard library. Each run of the peer
// first copies the unsorted elements, with all threads; its time includes that copy, as that of Volley
// includes reading its input.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers_sort.hpp"

#include <volley/algorithms/sort.hpp>
#include <volley/volley.hpp>

#include <cstring>
#include <random>
#include <type_traits>

namespace volley::bench {
namespace {

constexpr std::size_t count = std::size_t{1} << 24;
constexpr double sort_seconds = 5;

template <class T>
std::vector<T> random_elements() {
    std::vector<T> values(count);
    std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): the same elements in every run
    for (T& value : values) {
        if constexpr (std::is_floating_point_v<T>) {
            value = static_cast<T>(static_cast<double>(random()) / 1e15 - 9e3);
        } else {
            value = static_cast<T>(random());
        }
    }
    return values;
}

/// Adds a row: `volley`, and for `data` the sort of TBB.
template <class T>
void compare_sorts(Report& report, const std::function<void()>& volley, const std::vector<T>& data,
                   double goal) {
    std::vector<Contender> contenders{{"volley", volley}};
#if defined(VOLLEY_BENCH_TBB)
    const HugeArray<T> sorted(data.size(), T{});
    contenders.push_back({"std::sort(par_unseq)", [&] {
                              workers().split(data.size(), [&](std::size_t begin, std::size_t end) {
                                  std::memcpy(sorted.data() + begin, data.data() + begin,
                                              (end - begin) * sizeof(T));
                              });
                              peer::parallel_sort(sorted.data(), sorted.size());
                          }});
#endif
    const std::vector<double> best = race(contenders, sort_seconds);
    const auto speed = [&](std::size_t k) { return 1e-9 * static_cast<double>(data.size()) / best[k]; };
    if (best.size() > 1) {
        report.add(giga_elements, speed(0), contenders[1].name, speed(1), goal);
    } else {
        report.add(giga_elements, speed(0), "std::sort(par_unseq)", std::nullopt, goal, "libtbb-dev");
    }
}

template <class T>
void keys_only(Report& report, double goal) {
    const std::vector<T> values = random_elements<T>();
    const Buffer<T> data = as_buffer(values);
    const Buffer<T> sorted(count);
    const auto run = [&] { sort(sorted, data).wait(); };
    run();
    const std::vector<T> got = sorted.read(0);
    check(std::is_sorted(got.begin(), got.end()), "a sort");
    compare_sorts(report, run, values, goal);
}

}  // namespace

VOLLEY_BENCH(sort_u32, "algorithms/sort_u32") { keys_only<u32>(report, 4); }
VOLLEY_BENCH(sort_f32, "algorithms/sort_f32") { keys_only<float>(report, 4); }
VOLLEY_BENCH(sort_u64, "algorithms/sort_u64") { keys_only<u64>(report, 3); }

VOLLEY_BENCH(sort_pairs, "algorithms/sort_by_key_u32_u32") {
    const std::vector<u32> keys = random_elements<u32>();
    std::vector<peer::KeyValue> pairs(count);
    std::vector<u32> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<u32>(i);
        pairs[i] = {keys[i], values[i]};
    }
    const Buffer<u32> key_data = as_buffer(keys), value_data = as_buffer(values);
    const Buffer<u32> sorted_keys(count), sorted_values(count);
    const auto run = [&] { sort_by_key(sorted_keys, sorted_values, key_data, value_data).wait(); };
    run();
    const std::vector<u32> order = sorted_values.read(0);
    bool right = true;
    for (std::size_t i = 1; i < count; ++i) {
        const u32 a = order[i - 1], b = order[i];
        right = right && (keys[a] < keys[b] || (keys[a] == keys[b] && a < b));
    }
    check(right, "a sort by key");
    compare_sorts(report, run, pairs, 3);
}

}  // namespace volley::bench
