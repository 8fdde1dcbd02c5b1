// Timed waits return at their limit, whatever the device or the host is doing.
#include "graphs/graph_support.hpp"
#include "support/sanitized.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace volley {
namespace {

using testing::scale_by;
using namespace std::chrono_literals;

constexpr std::uint32_t turns = 60'000;  // lavapipe allows few more

/// Returns a kernel that takes a large part of a second with as many turns and invocations as below.
auto long_kernel() {
    return kernel("long", [](Buff<float> data, Const<std::uint32_t> count) {
        const auto i = global_id().x;
        Var<float> x = data[i];
        $for (k, 0u, count) {
            x = x * 0.999f + 1.0f;
        }
        data[i] = x;
    });
}
Buffer<float> long_data(const DeviceInfo& device) {
    if (device.backend == "reference") return Buffer<float>(5);
    return Buffer<float>(device.backend == "cpu" ? testing::unless_sanitized(20'000, 5'000) : 1'000);
}

VOLLEY_BACKEND_TEST(TimedWaitTest, ReturnsWhileAKernelRuns) {
    Buffer<float> data = long_data(device());
    data.fill(1.0f);
    const auto run = long_kernel();
    run(data, 1u).wait();  // compiled
    const Event done = run(data, turns);
    EXPECT_FALSE(done.wait_for(1ms)) << "the wait lasted as long as the kernel";
    EXPECT_FALSE(done.ready());
    done.wait();
    EXPECT_TRUE(done.wait_for(0ns));
}

VOLLEY_BACKEND_TEST(TimedWaitTest, ReturnsWhileAGraphRuns) {
    Buffer<float> data = long_data(device());
    data.fill(1.0f);
    const auto run = long_kernel();
    CommandGraph graph = record([&] { run(data, dyn<std::uint32_t>("turns")); });
    graph.bind("turns", 1u);
    graph.submit().wait();
    graph.bind("turns", turns);
    const Event done = graph.submit();
    EXPECT_FALSE(done.wait_for(1ms));
    EXPECT_FALSE(done.ready());
    done.wait();
}

VOLLEY_BACKEND_TEST(TimedWaitTest, ReturnsWhileAHostFunctionRuns) {
    Signal signal;
    const Event called = host_call([signal] { signal.wait(); });
    EXPECT_FALSE(called.wait_for(5ms));
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    CommandGraph graph = record([&] {
        scale_by()(data, 2.0f);
        host_call([signal] { signal.wait(); });
        scale_by()(data, 2.0f);
    });
    const Event submitted = graph.submit();
    EXPECT_FALSE(submitted.wait_for(5ms));
    const Event after = called.then([signal] { signal.wait(); });
    const Event last = after.then([] {});
    EXPECT_FALSE(after.wait_for(5ms));
    EXPECT_FALSE(last.wait_for(5ms));
    signal.raise();
    EXPECT_TRUE(last.wait_for(60s));
    EXPECT_TRUE(submitted.wait_for(60s));
    EXPECT_EQ(data.read(0)[7], 4.0f);
}

VOLLEY_BACKEND_TEST(TimedWaitTest, ReturnsWhileItsQueueWaitsForAnother) {
    Buffer<float> data = long_data(device());
    data.fill(1.0f);
    const auto run = long_kernel();
    run.on(queue(0))(data, 1u).wait();
    const Event first = run.on(queue(0))(data, turns);
    queue(1).depends_on(first);
    const Event done = host_call([] {}, queue(1));
    EXPECT_FALSE(done.wait_for(1ms));
    done.wait();
    EXPECT_TRUE(first.ready());
}

VOLLEY_BACKEND_TEST(TimedWaitTest, ReturnsInAThenFunction) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    Signal signal;
    const Event held = host_call([signal] { signal.wait(); }, queue(1));
    std::atomic<bool> early{false};
    const Event called = scale_by().on(queue(0))(data, 2.0f).then([&] { early = !held.wait_for(5ms); });
    called.wait();
    EXPECT_TRUE(early);
    signal.raise();
    held.wait();
}

}  // namespace
}  // namespace volley
