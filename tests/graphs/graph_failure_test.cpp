// A driver rejects a kernel in the middle of a graph: the submission throws, and later work succeeds.
#include "graphs/graph_support.hpp"

#include "backends/opencl/opencl_device.hpp"
#include "runtime/context_owner.hpp"

#include <atomic>
#include <optional>
#include <utility>

namespace volley {
namespace {

using testing::add_number;
using testing::scale_by;

std::atomic<int> launches_until_failure{0};  // 0: none fails
decltype(backends::opencl::Api::EnqueueNDRangeKernel) own_enqueue = nullptr;

cl_int CL_API_CALL refuse_one(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const std::size_t* offset, const std::size_t* global, const std::size_t* local,
                              cl_uint count, const cl_event* list, cl_event* event) {
    if (launches_until_failure > 0 && --launches_until_failure == 0) return CL_OUT_OF_RESOURCES;
    return own_enqueue(queue, kernel, dimensions, offset, global, local, count, list, event);
}

TEST(GraphFailure, OfAnyKernelLeavesOpenClQueuesUsable) {
    std::optional<Context> context;
    try {
        context = make_context({.devices = {"opencl:0"}, .queues_per_device = 2});
    } catch (const DeviceError&) {
        GTEST_SKIP() << "this machine has no OpenCL device";
    }
    const auto use = context->use();
    const auto& core = runtime::ContextOwner::core_of(*context);
    backends::opencl::Api& cl = static_cast<backends::opencl::OpenClDevice&>(core->device(0)).logical().cl;
    own_enqueue = std::exchange(cl.EnqueueNDRangeKernel, refuse_one);
    Buffer<float> shared({100}, {.placement = Placement::per_device});
    Buffer<float> own(100);
    shared.fill(1.0f);
    own.fill(1.0f);
    auto g = record([&] {
        scale_by()(own, 2.0f);
        add_number().on(queue(0))(shared, 1.0f);
        scale_by().on(queue(1))(shared, 3.0f);
        add_number()(own, 1.0f);
    });
    g.submit().wait();
    constexpr int kernels = 6;
    for (int n = 1; n <= kernels; ++n) {
        SCOPED_TRACE("launch " + std::to_string(n));
        launches_until_failure = n;
        EXPECT_THROW(g.submit().wait(), Error);
        EXPECT_EQ(launches_until_failure, 0);
        EXPECT_NO_THROW(wait());
        shared.fill(1.0f);
        own.fill(1.0f);
        g.submit();
        EXPECT_EQ(shared.read(1), std::vector<float>(100, 6.0f));
        EXPECT_EQ(own.read(0), std::vector<float>(100, 3.0f));
        EXPECT_EQ(own.read(1), std::vector<float>(100, 3.0f));
    }
    launches_until_failure = 0;
}

}  // namespace
}  // namespace volley
