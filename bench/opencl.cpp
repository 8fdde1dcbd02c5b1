// The OpenCL backend on PoCL against direct calls of OpenCL with kernels in OpenCL C. The peer uses its
// fastest local size, Volley the default.
#include "harness.hpp"
#include "huge_array.hpp"
#include "raw_opencl.hpp"
#include "software_devices.hpp"
#include "stream_kernels.hpp"

#include <volley/volley.hpp>

#include <functional>

namespace volley::bench {
namespace {

constexpr std::size_t small_count = 1024;
constexpr double seconds = 4;
constexpr double dispatch_goal = 0.8;
constexpr double stream_goal = 0.95;

/// Returns the fastest local size of the peer.
Contender best_of(const char* name, const std::function<void(std::size_t local)>& run) {
    std::vector<Contender> sizes;
    for (const std::size_t local : {0, 64, 256, 1024}) sizes.push_back({name, [run, local] { run(local); }});
    return sizes[fastest(sizes, 0.5)];
}

void compare_dispatch(Report& report, int launches) {
    if (!go_to_pocl(report, microseconds, "raw-opencl", dispatch_goal)) return;
    const OnDevice on_pocl(pocl_name);
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

void compare_stream(Report& report, const Stream& stream) {
    if (!go_to_pocl(report, gigabytes, "opencl-c", stream_goal)) return;
    const OnDevice on_pocl(pocl_name);
    const StreamBuffers ours;
    stream.check_on(ours);
    const ClStream peer(*pocl(), stream);
    const Contender by_hand = best_of("opencl-c", [&](std::size_t local) { peer.run(local); });
    const std::vector<double> best =
        race({{"volley", [&] { stream.launch(ours).wait(); }}, by_hand}, seconds);
    const auto speed = [&](std::size_t k) { return stream.bytes() / best[k] * 1e-9; };
    report.add(gigabytes, speed(0), "opencl-c", speed(1), stream_goal);
}

}  // namespace

VOLLEY_BENCH(opencl_dispatch, "opencl/dispatch_and_wait") { compare_dispatch(report, 1); }
VOLLEY_BENCH(opencl_launches, "opencl/launches_1000") { compare_dispatch(report, 1000); }

VOLLEY_BENCH(opencl_copy, "opencl/stream_copy") { compare_stream(report, copy_stream()); }
VOLLEY_BENCH(opencl_scale, "opencl/stream_scale") { compare_stream(report, scale_stream()); }
VOLLEY_BENCH(opencl_saxpy, "opencl/stream_saxpy") { compare_stream(report, saxpy_stream()); }
VOLLEY_BENCH(opencl_triad, "opencl/stream_triad") { compare_stream(report, triad_stream()); }

}  // namespace volley::bench
