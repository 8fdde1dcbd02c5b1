// Stream kernels over arrays of 64 MiB, limited by memory bandwidth.
#include "harness.hpp"
#include "peers.hpp"
#include "raw_opencl.hpp"
#include "stream_kernels.hpp"
#include "worker_pool.hpp"

#include <memory>
#include <optional>

namespace volley::bench {
namespace {

constexpr double seconds = 15;  // memory is shared with other machines, so a good run takes a while
constexpr double plain_goal = 0.9;
constexpr double pocl_goal = 0.95;

/// Races one stream. `run_plain` computes a part of it.
void compare(Report& report, const Stream& stream,
             void (*run_plain)(const StreamArrays&, std::size_t begin, std::size_t end)) {
    const StreamBuffers ours;
    stream.check_on(ours);
    const StreamArrays plain;
    std::vector<Contender> contenders;
    contenders.push_back({"volley", [&] { stream.launch(ours).wait(); }});
    contenders.push_back({"plain-c++", [&] {
                              workers().split(stream_count, [&](std::size_t begin, std::size_t end) {
                                  run_plain(plain, begin, end);
                              });
                          }});
    std::unique_ptr<ClStream> by_pocl;
    if (ClDevice* device = pocl()) {
        by_pocl = std::make_unique<ClStream>(*device, stream);
        std::vector<Contender> sizes;
        for (const std::size_t local : {0, 64, 256, 1024, 4096})
            sizes.push_back({"pocl", [&by_pocl, local] { by_pocl->run(local); }});
        contenders.push_back(sizes[fastest(sizes, 0.3)]);
    }

    const std::vector<double> best = race(contenders, seconds);
    const auto speed = [&](std::size_t k) { return stream.bytes() / best[k] * 1e-9; };
    report.add(gigabytes, speed(0), "plain-c++", speed(1), plain_goal);
    if (by_pocl != nullptr) {
        report.add(gigabytes, speed(0), "pocl", speed(2), pocl_goal);
    } else {
        report.add(gigabytes, speed(0), "pocl", std::nullopt, pocl_goal, missing_pocl());
    }
}

}  // namespace

VOLLEY_BENCH(stream_copy, "foundation/stream_copy") {
    compare(report, copy_stream(), [](const StreamArrays& on, std::size_t begin, std::size_t end) {
        peer::copy(on.c.data(), on.a.data(), begin, end);
    });
}
VOLLEY_BENCH(stream_scale, "foundation/stream_scale") {
    compare(report, scale_stream(), [](const StreamArrays& on, std::size_t begin, std::size_t end) {
        peer::scale(on.c.data(), -1.0F, begin, end);
    });
}
VOLLEY_BENCH(stream_saxpy, "foundation/stream_saxpy") {
    compare(report, saxpy_stream(), [](const StreamArrays& on, std::size_t begin, std::size_t end) {
        peer::saxpy(on.c.data(), on.a.data(), 0.5F, begin, end);
    });
}
VOLLEY_BENCH(stream_triad, "foundation/stream_triad") {
    compare(report, triad_stream(), [](const StreamArrays& on, std::size_t begin, std::size_t end) {
        peer::triad(on.c.data(), on.a.data(), on.b.data(), 0.5F, begin, end);
    });
}

}  // namespace volley::bench
