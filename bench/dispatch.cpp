// The cost of a launch: one kernel over 1024 elements and a wait, and a thousand launches with one wait.
#include "harness.hpp"
#include "huge_array.hpp"
#include "raw_opencl.hpp"

#include <volley/volley.hpp>

namespace volley::bench {
namespace {

constexpr std::size_t count = 1024;
constexpr double seconds = 4;
constexpr double goal = 8;

const char* const source = R"(
kernel void scale(global float* data, float alpha) {
    size_t i = get_global_id(0);
    data[i] = data[i] * alpha;
}
)";

void compare(Report& report, int launches, double wanted) {
    const auto scale = kernel("scale", [](Buff<float> data, Const<float> alpha) {
        auto i = global_id().x;
        data[i] = data[i] * alpha;
    });
    Buffer<float> data(count);
    data.fill(1.0F);
    std::vector<Contender> contenders{{"volley", [&] {
                                           for (int k = 1; k < launches; ++k) scale(data, -1.0F);
                                           scale(data, -1.0F).wait();
                                       }}};
    const HugeArray<float> memory(count, 1.0F);
    ClBuffer buffer;
    ClKernel cl_scale;
    if (ClDevice* device = pocl()) {
        buffer = device->wrap(memory.data(), memory.bytes());
        cl_scale = device->kernel(source, "scale");
        cl_scale.bind(buffer, -1.0F);
        std::vector<Contender> sizes;
        for (const std::size_t local : {0, 64, 256, 1024}) {
            sizes.push_back({"pocl", [device, local, launches, &cl_scale] {
                                 for (int k = 0; k < launches; ++k) device->enqueue(cl_scale, count, local);
                                 device->finish();
                             }});
        }
        contenders.push_back(sizes[fastest(sizes, 0.5)]);
    }
    const std::vector<double> best = race(contenders, seconds);
    if (contenders.size() > 1) {
        report.add(microseconds, best[0] / launches * 1e6, "pocl", best[1] / launches * 1e6, wanted);
    } else {
        report.add(microseconds, best[0] / launches * 1e6, "pocl", std::nullopt, wanted, missing_pocl());
    }
}

}  // namespace

VOLLEY_BENCH(dispatch_and_wait, "foundation/dispatch_and_wait") { compare(report, 1, goal); }
VOLLEY_BENCH(dispatch_many, "foundation/dispatch_1000") { compare(report, 1000, 0); }

}  // namespace volley::bench
