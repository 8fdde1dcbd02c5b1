// Scans of 16 Mi elements against the parallel scan of the standard library. Figures count each element as
// read once and written once.
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers_select.hpp"

#include <volley/algorithms/scan.hpp>
#include <volley/volley.hpp>

#include <algorithm>
#include <numeric>

namespace volley::bench {
namespace {

constexpr std::size_t scan_count = std::size_t{1} << 24;
constexpr double scan_seconds = 3;
constexpr double scan_goal = 1.5;

double scan_speed(double seconds) { return 1e-9 * 2 * sizeof(float) * scan_count / seconds; }

template <class T>
std::vector<T> small_numbers() {
    std::vector<T> values(scan_count);
    for (std::size_t i = 0; i < scan_count; ++i) values[i] = static_cast<T>(i * 2654435761U >> 7U & 1U);
    return values;
}

template <class T>
void compare_scans(Report& report) {
    const std::vector<T> values = small_numbers<T>();
    const Buffer<T> from = as_buffer(values);
    const Buffer<T> to(scan_count);
    const auto run = [&] { scan::inclusive_sum(to, from).wait(); };
    run();
    std::vector<T> expected(scan_count);
    std::inclusive_scan(values.begin(), values.end(), expected.begin());
    check(to.read(0) == expected, "a scan");  // floats: all sums are exact
    std::vector<Contender> contenders{{"volley", run}};
#if defined(VOLLEY_BENCH_TBB)
    const HugeArray<T> host_from(scan_count, T{1}), host_to(scan_count, T{});
    contenders.push_back({"std::inclusive_scan(par_unseq)",
                          [&] { peer::parallel_scan(host_to.data(), host_from.data(), scan_count); }});
#endif
    const std::vector<double> best = race(contenders, scan_seconds);
    if (best.size() > 1) {
        report.add(gigabytes, scan_speed(best[0]), contenders[1].name, scan_speed(best[1]), scan_goal);
    } else {
        report.add(gigabytes, scan_speed(best[0]), "std::inclusive_scan(par_unseq)", std::nullopt, scan_goal,
                   "libtbb-dev");
    }
}

/// Along an axis of a square array, against the scan of as many elements in one line.
void compare_axes(Report& report, int axis) {
    const Buffer<float> from = as_buffer(small_numbers<float>(), Shape{4096, 4096});
    const Buffer<float> to(Shape{4096, 4096});
    const Buffer<float> line = from.reshape({scan_count}), line_to(scan_count);
    const std::vector<double> best =
        race({{"volley", [&] { scan::inclusive_sum(to, from, {.axis = axis}).wait(); }},
              {"one line", [&] { scan::inclusive_sum(line_to, line).wait(); }}},
             scan_seconds);
    report.add(gigabytes, scan_speed(best[0]), "volley, one line", scan_speed(best[1]), 0);
}

}  // namespace

VOLLEY_BENCH(scan_i32, "algorithms/scan_i32") { compare_scans<int>(report); }
VOLLEY_BENCH(scan_f32, "algorithms/scan_f32") { compare_scans<float>(report); }
VOLLEY_BENCH(scan_rows, "algorithms/scan_axis_1_of_4096x4096") { compare_axes(report, 1); }
VOLLEY_BENCH(scan_columns, "algorithms/scan_axis_0_of_4096x4096") { compare_axes(report, 0); }

}  // namespace volley::bench
