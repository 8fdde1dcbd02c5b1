// The time to the first result of a new process, and the time of each further kernel, without a cache on disk
// on either side.
#include "child.hpp"
#include "harness.hpp"
#include "huge_array.hpp"
#include "raw_opencl.hpp"

#include <volley/volley.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace volley::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t count = 1024;
constexpr int processes = 5;
constexpr int programs = 6;
constexpr double startup_goal = 8;
constexpr double compile_goal = 20;
constexpr double compile_most_ms = 6;

double milliseconds_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string scale_source(int step) {
    return "kernel void scale(global float* data, float alpha) {\n    size_t i = get_global_id(0);\n    "
           "data[i] = data[i] * alpha + " +
           std::to_string(step) + ".5f;\n}\n";
}

/// Returns a different kernel for each step: the constant is part of its code.
auto scale_kernel(int step) {
    const float constant = static_cast<float>(step) + 0.5F;
    return kernel("scale", [constant](Buff<float> data, Const<float> alpha) {
        auto i = global_id().x;
        data[i] = data[i] * alpha + constant;
    });
}

/// Runs the children of both sides in turns and reports the best of each; without PoCL, only Volley's.
/// Returns Volley's time.
double compare(Report& report, const std::string& ours, const std::string& theirs, double goal) {
    double volley = std::numeric_limits<double>::infinity();
    double peer = std::numeric_limits<double>::infinity();
    const bool has_peer = pocl() != nullptr;
    for (int k = 0; k < processes; ++k) {
        volley = std::min(volley, run_child(ours, {"VOLLEY_DEVICES=cpu:0", "VOLLEY_CACHE_DIR=off"}));
        if (!has_peer) continue;
        const TemporaryDirectory empty;
        peer = std::min(peer, run_child(theirs, {"POCL_KERNEL_CACHE=0", "POCL_CACHE_DIR=" + empty.path()}));
    }
    if (has_peer) {
        report.add(milliseconds, volley, "pocl", peer, goal);
    } else {
        report.add(milliseconds, volley, "pocl", std::nullopt, goal, missing_pocl());
    }
    return volley;
}

}  // namespace

VOLLEY_CHILD(startup_volley) {
    Buffer<float> data = as_buffer(std::vector<float>(count, 1.0F));
    scale_kernel(0)(data, 2.0F);
    const std::vector<float> result = data.read(0);
    const double time = milliseconds_since(main_began);
    check(result.back() == 2.5F, "the first kernel");
    return time;
}

VOLLEY_CHILD(startup_pocl) {
    ClDevice& device = *pocl();
    std::vector<float> data(count, 1.0F);
    const ClBuffer buffer = device.wrap(data.data(), data.size() * sizeof(float));
    ClKernel kernel = device.kernel(scale_source(0), "scale");
    kernel.bind(buffer, 2.0F);
    device.run(kernel, count, 0);
    const double time = milliseconds_since(main_began);
    check(data.back() == 2.5F, "the first kernel");
    return time;
}

VOLLEY_CHILD(compile_volley) {
    Buffer<float> data = as_buffer(std::vector<float>(count, 1.0F));
    scale_kernel(0)(data, 2.0F).wait();
    double best = std::numeric_limits<double>::infinity();
    for (int step = 1; step <= programs; ++step) {
        const auto start = Clock::now();
        scale_kernel(step)(data, 0.5F).wait();
        best = std::min(best, milliseconds_since(start));
    }
    return best;
}

// clBuildProgram alone: the rest of PoCL's compilation, at the first launch, is not counted.
VOLLEY_CHILD(compile_pocl) {
    ClDevice& device = *pocl();
    static_cast<void>(device.build(scale_source(0)));
    double best = std::numeric_limits<double>::infinity();
    for (int step = 1; step <= programs; ++step) {
        const std::string source = scale_source(step);
        const auto start = Clock::now();
        const ClProgram program = device.build(source);
        best = std::min(best, milliseconds_since(start));
    }
    return best;
}

VOLLEY_BENCH(startup, "foundation/startup") {
    static_cast<void>(compare(report, "startup_volley", "startup_pocl", startup_goal));
}
VOLLEY_BENCH(compile, "foundation/compile") {
    const double ours = compare(report, "compile_volley", "compile_pocl", compile_goal);
    report.add(milliseconds, ours, "6-ms", compile_most_ms, 1);
}

}  // namespace volley::bench
