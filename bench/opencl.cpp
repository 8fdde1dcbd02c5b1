// The OpenCL backend on PoCL against OpenCL called by hand and kernels written in OpenCL C. The peer has the
// local size that is fastest for it; Volley its own choice.
#include "harness.hpp"
#include "huge_array.hpp"
#include "raw_opencl.hpp"

#include <volley/volley.hpp>

#include <deque>
#include <functional>
#include <string>

namespace volley::bench {
namespace {

constexpr std::size_t small_count = 1024;
constexpr std::size_t stream_count = std::size_t{16} << 20;
constexpr double seconds = 4;
constexpr double dispatch_goal = 0.8;
constexpr double stream_goal = 0.95;

const char* const device_name = "opencl:0";

/// A context of PoCL, current.
struct Pocl {
    Context context = make_context({.devices = {device_name}});
    ContextScope scope = context.use();
};

bool ready(Report& report, Metric metric, const char* peer, double goal) {
    report.on("opencl", device_name);
    if (pocl() != nullptr) {
        for (const DeviceInfo& device : devices()) {
            if (device.id() == device_name && device.driver.starts_with("Portable Computing Language"))
                return true;
        }
    }
    report.add(metric, 0, peer, std::nullopt, goal, missing_pocl());
    return false;
}

/// Its fastest local size.
Contender best_of(const char* name, const std::function<void(std::size_t local)>& run) {
    std::vector<Contender> sizes;
    for (const std::size_t local : {0, 64, 256, 1024}) sizes.push_back({name, [run, local] { run(local); }});
    return sizes[fastest(sizes, 0.5)];
}

void compare_dispatch(Report& report, int launches) {
    if (!ready(report, microseconds, "raw-opencl", dispatch_goal)) return;
    const Pocl ours;
    const auto scale = kernel("scale", [](Buff<float> data, Const<float> alpha) {
        auto i = global_id().x;
        data[i] = data[i] * alpha;
    });
    const Buffer<float> data = as_buffer(std::vector<float>(small_count, 1.0F));
    scale(data, -1.0F).wait();
    check(data.read(0).back() == -1.0F, "a launch on PoCL");

    ClDevice& raw = *pocl();
    const HugeArray<float> memory(small_count, 1.0F);
    const ClBuffer buffer = raw.wrap(memory.data(), memory.bytes());
    ClKernel peer = raw.kernel(
        "kernel void scale(global float* data, float alpha) { data[get_global_id(0)] *= alpha; }", "scale");
    peer.bind(buffer, -1.0F);
    raw.run(peer, small_count, 0);
    check(memory.data()[small_count - 1] == -1.0F, "a launch by hand");

    const Contender by_hand = best_of("raw-opencl", [&](std::size_t local) {
        for (int k = 0; k < launches; ++k) raw.enqueue(peer, small_count, local);
        raw.finish();
    });
    const std::vector<double> best = race({{"volley",
                                            [&] {
                                                for (int k = 1; k < launches; ++k) scale(data, -1.0F);
                                                scale(data, -1.0F).wait();
                                            }},
                                           by_hand},
                                          seconds);
    report.add(microseconds, best[0] / launches * 1e6, "raw-opencl", best[1] / launches * 1e6, dispatch_goal);
}

template <class Launch>
void compare_stream(Report& report, const std::string& statement, int arrays, double arrays_moved,
                    float value, float expected, const Launch& launch) {
    if (!ready(report, gigabytes, "opencl-c", stream_goal)) return;
    const Pocl ours;
    Buffer<float> c(stream_count), a(stream_count), b(stream_count);
    c.fill(3.0F);
    a.fill(1.0F);
    b.fill(2.0F);
    launch(c, a, b, value).wait();
    check(c.read(0).back() == expected, "a stream kernel on PoCL");

    ClDevice& raw = *pocl();
    std::deque<HugeArray<float>> memory;
    std::deque<ClBuffer> buffers;
    for (int k = 0; k < 3; ++k) {
        memory.emplace_back(stream_count, k == 0 ? 3.0F : static_cast<float>(k));
        buffers.push_back(raw.wrap(memory.back().data(), memory.back().bytes()));
    }
    const char* const parameters[] = {"global float* restrict c", ", global const float* restrict a",
                                      ", global const float* restrict b"};
    std::string source = "kernel void stream(";
    for (int k = 0; k < arrays; ++k) source += parameters[k];
    source += ", float s) { size_t i = get_global_id(0); " + statement + " }";
    ClKernel peer = raw.kernel(source, "stream");
    if (arrays == 1) peer.bind(buffers[0], value);
    if (arrays == 2) peer.bind(buffers[0], buffers[1], value);
    if (arrays == 3) peer.bind(buffers[0], buffers[1], buffers[2], value);
    raw.run(peer, stream_count, 0);
    check(memory.front().data()[stream_count - 1] == expected, "a stream kernel by hand");

    const Contender by_hand =
        best_of("opencl-c", [&](std::size_t local) { raw.run(peer, stream_count, local); });
    const std::vector<double> best =
        race({{"volley", [&] { launch(c, a, b, value).wait(); }}, by_hand}, seconds);
    const auto speed = [&](std::size_t k) {
        return arrays_moved * sizeof(float) * stream_count / best[k] * 1e-9;
    };
    report.add(gigabytes, speed(0), "opencl-c", speed(1), stream_goal);
}

}  // namespace

VOLLEY_BENCH(opencl_dispatch, "opencl/dispatch_and_wait") { compare_dispatch(report, 1); }
VOLLEY_BENCH(opencl_launches, "opencl/launches_1000") { compare_dispatch(report, 1000); }

VOLLEY_BENCH(opencl_copy, "opencl/stream_copy") {
    const auto copy = kernel("copy", [](Buff<float> c, Buff<const float> a) {
        auto i = global_id().x;
        c[i] = a[i];
    });
    compare_stream(report, "c[i] = a[i];", 2, 2, 0.0F, 1.0F,
                   [&](auto& c, auto& a, auto&, float) { return copy(c, a); });
}
VOLLEY_BENCH(opencl_scale, "opencl/stream_scale") {
    const auto scale = kernel("scale", [](Buff<float> c, Const<float> s) {
        auto i = global_id().x;
        c[i] = c[i] * s;
    });
    compare_stream(report, "c[i] *= s;", 1, 2, -1.0F, -3.0F,
                   [&](auto& c, auto&, auto&, float s) { return scale(c, s); });
}
VOLLEY_BENCH(opencl_saxpy, "opencl/stream_saxpy") {
    const auto saxpy = kernel("saxpy", [](Buff<float> c, Buff<const float> a, Const<float> s) {
        auto i = global_id().x;
        c[i] = s * a[i] + c[i];
    });
    compare_stream(report, "c[i] = s * a[i] + c[i];", 2, 3, 1.0F, 4.0F,
                   [&](auto& c, auto& a, auto&, float s) { return saxpy(c, a, s); });
}
VOLLEY_BENCH(opencl_triad, "opencl/stream_triad") {
    const auto triad =
        kernel("triad", [](Buff<float> c, Buff<const float> a, Buff<const float> b, Const<float> s) {
            auto i = global_id().x;
            c[i] = a[i] + s * b[i];
        });
    compare_stream(report, "c[i] = a[i] + s * b[i];", 3, 3, 2.0F, 5.0F,
                   [&](auto& c, auto& a, auto& b, float s) { return triad(c, a, b, s); });
}

}  // namespace volley::bench
