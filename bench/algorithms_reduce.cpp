// Reductions of 64 Mi floats against plain C++, along axes against full sums, of maps against separate
// kernels, on software devices, and the first one of a process. Figures count the bytes that are read.
#include "child.hpp"
#include "harness.hpp"
#include "huge_array.hpp"
#include "peers_reduce.hpp"
#include "software_devices.hpp"

#include <volley/algorithms/map.hpp>
#include <volley/algorithms/reduce.hpp>
#include <volley/volley.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace volley::bench {
namespace {

constexpr std::size_t reduce_count = std::size_t{1} << 26;
constexpr double reduce_seconds = 3;
constexpr double axis_seconds = 2;
constexpr double plain_goal = 0.95;
constexpr double axis_goal = 0.8;
constexpr double mapped_goal = 1.8;
constexpr double software_goal = 3;
constexpr double vkdispatch_gigabytes = 0.65;  // per second, of its reduction on software drivers
constexpr double first_goal = 0.3;
constexpr std::size_t first_count = std::size_t{1} << 20;
constexpr int first_processes = 7;

/// Zeros and few ones, so that all sums are exact.
float element(std::size_t i) { return (i * 2654435761U >> 9U & 7U) == 0 ? 1.0F : 0.0F; }

Buffer<float> elements(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = element(i);
    return as_buffer(std::move(values), shape);
}

double exact_sum() {
    double sum = 0;
    for (std::size_t i = 0; i < reduce_count; ++i) sum += static_cast<double>(element(i));
    return sum;
}

double read_speed(std::size_t elements, double seconds) {
    return 1e-9 * static_cast<double>(elements * sizeof(float)) / seconds;
}

/// The parts of a peer's result, one per thread.
class ThreadParts {
public:
    /// Calls part(begin, end) in each thread and combines what they return.
    template <class F, class G>
    float reduce(const F& part, const G& combine) {
        const std::size_t threads = workers().threads();
        const std::size_t each = (reduce_count + threads - 1) / threads;
        workers().split(reduce_count, [&](std::size_t begin, std::size_t end) {
            parts_[begin / each * spread] = part(begin, end);
        });
        float result = parts_[0];
        for (std::size_t k = 1; k < threads; ++k) result = combine(result, parts_[k * spread]);
        return result;
    }

private:
    static constexpr std::size_t spread = 16;  // parts in different cache lines
    std::vector<float> parts_ = std::vector<float>(workers().threads() * spread);
};

/// Races a reduction of `sources` arrays of 64 Mi floats with its peer. `plain` returns the result.
void compare_with_plain(Report& report, std::size_t sources, const std::function<void()>& volley,
                        const std::function<void()>& plain) {
    const std::vector<double> best = race({{"volley", volley}, {"plain-c++", plain}}, reduce_seconds);
    report.add(gigabytes, read_speed(sources * reduce_count, best[0]), "plain-c++",
               read_speed(sources * reduce_count, best[1]), plain_goal);
}

float add(float a, float b) { return a + b; }

/// The sum along an axis, against the sum of as many elements in one line.
void compare_axis(Report& report, const Shape& shape, int axis) {
    const Buffer<float> from = elements(shape);
    const auto count = static_cast<std::size_t>(shape.elements());
    std::vector<std::int64_t> kept;
    for (int k = 0; k < shape.rank(); ++k)
        if (k != axis) kept.push_back(shape[k]);
    const Buffer<float> to{Shape(std::span<const std::int64_t>(kept))};
    const Buffer<float> line = from.reshape({shape.elements()}), total{Shape()};
    const auto run = [&] { reduce::sum(to, from, {.axes = {axis}}).wait(); };
    const auto run_line = [&] { reduce::sum(total, line).wait(); };
    run();
    run_line();
    const std::vector<float> sums = to.read(0);
    check(std::accumulate(sums.begin(), sums.end(), 0.0) == static_cast<double>(total.item()),
          "sums along an axis");
    const std::vector<double> best = race({{"volley", run}, {"one line", run_line}}, axis_seconds);
    report.add(gigabytes, read_speed(count, best[0]), "volley, full sum", read_speed(count, best[1]),
               axis_goal);
}

/// The sum of 64 MiB on a software device, against a recorded figure.
void compare_on_device(Report& report, const char* name) {
    report.on("vulkan", name);
    const std::vector<DeviceInfo> all_devices = devices();
    const std::string_view driver = std::string_view(name).substr(std::string_view("vulkan:").size());
    const bool found = std::any_of(all_devices.begin(), all_devices.end(), [&](const DeviceInfo& device) {
        std::string lower = device.name;
        std::transform(lower.begin(), lower.end(), lower.begin(),
                       [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        return device.backend == "vulkan" && lower.find(driver) != std::string::npos;
    });
    if (!found) {
        report.add(gigabytes, 0, "vkdispatch", std::nullopt, software_goal, "no such driver");
        return;
    }
    const OnDevice scope(name);
    constexpr std::size_t count = std::size_t{1} << 24;
    const Buffer<float> from = elements(count), total{Shape()};
    const auto run = [&] { reduce::sum(total, from).wait(); };
    const std::vector<double> best = race({{"volley", run}}, axis_seconds);
    report.add(gigabytes, read_speed(count, best[0]), "vkdispatch", vkdispatch_gigabytes, software_goal);
}

double milliseconds_from(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

VOLLEY_BENCH(reduce_sum, "algorithms/reduce_sum_f32") {
    const Buffer<float> from = elements(reduce_count), total{Shape()};
    const HugeArray<float> host(reduce_count, 0.0F);
    from.read_into(host.span());
    ThreadParts parts;
    float sum = 0;
    const auto plain = [&] {
        sum = parts.reduce(
            [&](std::size_t begin, std::size_t end) { return peer::sum(host.data(), begin, end); }, add);
    };
    compare_with_plain(
        report, 1, [&] { reduce::sum(total, from).wait(); }, plain);
    check(static_cast<double>(total.item()) == exact_sum() && total.item() == sum, "a sum");
}

VOLLEY_BENCH(reduce_min, "algorithms/reduce_min_f32") {
    const Buffer<float> from = elements(reduce_count), total{Shape()};
    const HugeArray<float> host(reduce_count, 0.0F);
    from.read_into(host.span());
    ThreadParts parts;
    float least = 1;
    const auto plain = [&] {
        least = parts.reduce(
            [&](std::size_t begin, std::size_t end) { return peer::least(host.data(), begin, end); },
            [](float a, float b) { return std::min(a, b); });
    };
    compare_with_plain(
        report, 1, [&] { reduce::min(total, from).wait(); }, plain);
    check(total.item() == least, "a minimum");
}

VOLLEY_BENCH(reduce_dot, "algorithms/reduce_dot_f32") {
    const Buffer<float> a = elements(reduce_count), b = elements(reduce_count), total{Shape()};
    const HugeArray<float> host_a(reduce_count, 0.0F), host_b(reduce_count, 0.0F);
    a.read_into(host_a.span());
    b.read_into(host_b.span());
    ThreadParts parts;
    float dot = 0;
    const auto plain = [&] {
        dot =
            parts.reduce([&](std::size_t begin,
                             std::size_t end) { return peer::dot(host_a.data(), host_b.data(), begin, end); },
                         add);
    };
    compare_with_plain(
        report, 2, [&] { reduce::dot(total, a, b).wait(); }, plain);
    check(total.item() == dot, "a dot product");
}

VOLLEY_BENCH(reduce_axis_0_of_2, "algorithms/reduce_axis_0_of_4096x4096") {
    compare_axis(report, {4096, 4096}, 0);
}
VOLLEY_BENCH(reduce_axis_1_of_2, "algorithms/reduce_axis_1_of_4096x4096") {
    compare_axis(report, {4096, 4096}, 1);
}
VOLLEY_BENCH(reduce_axis_0_of_3, "algorithms/reduce_axis_0_of_256x256x256") {
    compare_axis(report, {256, 256, 256}, 0);
}
VOLLEY_BENCH(reduce_axis_1_of_3, "algorithms/reduce_axis_1_of_256x256x256") {
    compare_axis(report, {256, 256, 256}, 1);
}
VOLLEY_BENCH(reduce_axis_2_of_3, "algorithms/reduce_axis_2_of_256x256x256") {
    compare_axis(report, {256, 256, 256}, 2);
}

// Without a map, the sines are stored by one kernel and summed by another. The figures count the elements of
// both sources.
VOLLEY_BENCH(reduce_mapped, "algorithms/reduce_mapped_f32") {
    const Buffer<float> a = elements(reduce_count), b = elements(reduce_count), total{Shape()};
    const Buffer<float> stored(reduce_count), other{Shape()};
    const auto sine =
        map([](Value<u32> i, Buff<const float> x, Buff<const float> y) { return sin(x[i]) + y[i]; });
    const auto store_sine =
        kernel("store_sine", [](Buff<float> to, Buff<const float> x, Buff<const float> y) {
            const auto i = global_id().x;
            to[i] = sin(x[i]) + y[i];
        });
    const auto run = [&] { reduce::sum(total, sine(a, b)).wait(); };
    const auto run_apart = [&] {
        store_sine(stored, a, b);
        reduce::sum(other, stored).wait();
    };
    const std::vector<double> best = race({{"volley", run}, {"two kernels", run_apart}}, reduce_seconds);
    check(std::abs(total.item() - other.item()) <= 1e-5F * std::abs(other.item()), "a sum of a map");
    report.add(gigabytes, read_speed(2 * reduce_count, best[0]), "volley, 2 kernels",
               read_speed(2 * reduce_count, best[1]), mapped_goal);
}

VOLLEY_BENCH(reduce_software, "algorithms/reduce_sum_64_MiB") {
    compare_on_device(report, lavapipe_name);
    compare_on_device(report, swiftshader_name);
}

VOLLEY_CHILD(first_sum) {
    const Buffer<float> data = as_buffer(std::vector<float>(first_count, 1.0F));
    const auto start = std::chrono::steady_clock::now();
    const float total = reduce::sum(data).item();
    const double time = milliseconds_from(start);
    check(total == static_cast<float>(first_count), "the first sum");
    return time;
}

VOLLEY_CHILD(first_kernel) {
    const Buffer<float> data = as_buffer(std::vector<float>(first_count, 1.0F));
    const auto start = std::chrono::steady_clock::now();
    const auto twice = kernel("twice", [](Buff<float> x) { x[global_id().x] *= 2.0F; });
    twice(data).wait();
    const double time = milliseconds_from(start);
    check(data.read(0).back() == 2.0F, "the first kernel");
    return time;
}

VOLLEY_BENCH(reduce_first, "algorithms/reduce_first_call") {
    double sum = std::numeric_limits<double>::infinity(), one = sum;
    const std::vector<std::string> environment{"VOLLEY_DEVICES=cpu:0", "VOLLEY_CACHE_DIR=off"};
    for (int k = 0; k < first_processes; ++k) {
        sum = std::min(sum, run_child("first_sum", environment));
        one = std::min(one, run_child("first_kernel", environment));
    }
    report.add(milliseconds, sum, "volley, a kernel", one, first_goal);
}

}  // namespace volley::bench
