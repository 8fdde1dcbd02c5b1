// Graphs on several devices, devices that wait for each other, graphs with GLSL and OpenCL C kernels, and
// graphs that do not fit into memory.
#include "graphs/graph_support.hpp"
#include "support/held_queue.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

namespace volley {
namespace {

using testing::add_number;
using testing::counting;
using testing::error_of;
using testing::HeldQueue;
using testing::scale_by;
using testing::slow;

std::optional<Context> open_devices(const std::vector<std::string>& names, unsigned queues = 1) {
    try {
        return make_context({.devices = names, .queues_per_device = queues});
    } catch (const DeviceError&) {
        return std::nullopt;
    }
}

TEST(GraphDevices, RunOnEveryDeviceOfAContext) {
    const auto context = open_devices({"cpu:0", "vulkan:llvmpipe", "opencl:0", "reference:0"}, 2);
    if (!context) GTEST_SKIP() << "this machine lacks lavapipe or PoCL";
    const auto use = context->use();
    Buffer<float> data = as_buffer(std::vector<float>(1000, 1.0f));
    auto g = record([&] {
        scale_by()(data, 2.0f);
        add_number()(data, dyn<float>("x"));
    });
    g.bind("x", {1.0f, 2.0f, 3.0f});
    for (int i = 0; i < 2; ++i) g.submit({.instances = 3});
    float expected = 1;
    for (int i = 0; i < 2; ++i) {
        for (const float x : {1.0f, 2.0f, 3.0f}) expected = expected * 2 + x;
    }
    for (const auto& replica : data.read()) EXPECT_EQ(replica, std::vector<float>(1000, expected));
}

TEST(GraphDevices, CopyBetweenDevices) {
    const auto context = open_devices({"cpu:0", "vulkan:llvmpipe"});
    if (!context) GTEST_SKIP() << "this machine has no lavapipe";
    const auto use = context->use();
    constexpr std::size_t n = 3'000'000;  // several pieces
    Buffer<float> here({n}, {.placement = Placement::on(queue(0))}),
        there({n}, {.placement = Placement::on(queue(1))});
    here.fill(1.0f);
    auto g = record([&] {
        add_number()(here, 1.0f);
        there.copy_from(here);
        scale_by()(there, 3.0f);
        here.copy_from(there);
        fence();
        add_number()(here, 1.0f);
    });
    float expected = 1;
    for (int i = 0; i < 3; ++i) {
        g.submit();
        expected = (expected + 1) * 3 + 1;
    }
    const std::vector<float> got = here.read(0);
    EXPECT_EQ(got.front(), expected);
    EXPECT_EQ(got[n / 2], expected);
    EXPECT_EQ(got.back(), expected);
}

TEST(GraphDevices, SpreadInstancesOverDevices) {
    const auto context = open_devices({"cpu:0", "vulkan:llvmpipe"});
    if (!context) GTEST_SKIP() << "this machine has no lavapipe";
    const auto use = context->use();
    Buffer<std::uint32_t> bits = as_buffer(std::vector<std::uint32_t>(1000, 0));
    auto set = kernel("set", [](Buff<std::uint32_t> data, Const<std::uint32_t> k) { data[k] = k + 1u; });
    auto g = record([&] { set.over(1)(bits, dyn<std::uint32_t>("k")); });
    g.bind("k", counting<std::uint32_t>(1000));
    g.submit({.instances = 1000, .spread = true}).wait();
    const auto replicas = bits.read();
    for (std::uint32_t k = 0; k < 1000; ++k) {
        EXPECT_EQ(replicas[0][k], k < 500 ? k + 1 : 0u);
        EXPECT_EQ(replicas[1][k], k < 500 ? 0u : k + 1);
    }
}

TEST(GraphDevices, AHostCallSynchronisesAllQueues) {
    const auto context = open_devices({"cpu:0", "vulkan:llvmpipe"});
    if (!context) GTEST_SKIP() << "this machine has no lavapipe";
    const auto use = context->use();
    Buffer<float> data = as_buffer(std::vector<float>(1000, 1.0f));
    const HostArray<float> a(Shape(1000), {.queue = queue(0)}), b(Shape(1000), {.queue = queue(1)});
    std::vector<float> sums;
    auto g = record([&] {
        add_number()(data, 1.0f);
        data.read_async(a, 0);
        data.read_async(b, 1);
        host_call([&] { sums.push_back(a(999) + b(999)); });
        add_number()(data, 1.0f);
    });
    g.submit({.instances = 2}).wait();
    EXPECT_EQ(sums, (std::vector<float>{4.0f, 8.0f}));
}

TEST(GraphDevices, OnOneQueueAHostCallPrecedesCopiesFromAnotherDevice) {
    const auto context = open_devices({"cpu:0", "vulkan:llvmpipe"});
    if (!context) GTEST_SKIP() << "this machine has no lavapipe";
    const auto use = context->use();
    Buffer<float> data = as_buffer(std::vector<float>(1000, 1.0f));
    const HostArray<float> theirs(Shape(1000), {.queue = queue(1)});  // only queue 1 can read it
    std::fill_n(theirs.data(), 1000, 0.0f);
    auto g = record([&] {
        host_call([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            for (int i = 0; i < 1000; ++i) theirs.data()[i] += 1.0f;
        });
        data.write_async(theirs);
        add_number()(data, 10.0f);
    });
    g.submit({.instances = 3, .queue = queue(0)});
    EXPECT_EQ(data.read(0)[999], 13.0f);
}

TEST(GraphDevices, WritesFromAnArrayOfAnotherDeviceFollowHostCalls) {
    const auto context = open_devices({"cpu:0", "vulkan:llvmpipe", "opencl:0"});
    if (!context) GTEST_SKIP() << "this machine lacks lavapipe or PoCL";
    const auto use = context->use();
    for (unsigned home = 0; home < 3; ++home) {
        SCOPED_TRACE(home);
        Buffer<float> data = as_buffer(std::vector<float>(1000, 0.0f));
        const HostArray<float> array(Shape(1000), {.queue = queue(home)});
        std::fill_n(array.data(), 1000, 1.0f);
        Signal go;
        host_call([&, go] {
            go.wait();
            std::fill_n(array.data(), 1000, 7.0f);
        });
        const Event written = data.write_async(array);
        EXPECT_FALSE(written.ready());
        go.raise();
        for (unsigned q = 0; q < 3; ++q) EXPECT_EQ(data.read(q)[999], 7.0f) << "on queue " << q;
        written.wait();
    }
}

/// Makes queue 1 wait for a slow kernel of queue 0 that has not started yet, and submits a host call and a
/// copy after it.
void wait_for_the_other_device() {
    constexpr std::size_t n = 5000;
    constexpr std::uint32_t turns = 500;
    float expected = 1;
    for (std::uint32_t k = 0; k < turns; ++k) expected = expected * 0.999f + 1.0f;
    Buffer<float> here({n}, {.placement = Placement::on(queue(0))}),
        there({n}, {.placement = Placement::on(queue(1))});
    here.fill(1.0f);
    there.fill(0.0f);
    wait();
    std::atomic<bool> was_ready = false;
    HeldQueue held(queue(0));
    const Event computed = slow()(here, turns);
    queue(1).depends_on(computed);
    // Only the event orders the host call; the copy is also ordered by its buffers.
    const Event called = host_call([&] { was_ready = computed.ready(); }, queue(1));
    const Event copied = there.copy_from(here);
    EXPECT_FALSE(called.wait_for(std::chrono::milliseconds(2)));
    EXPECT_FALSE(computed.ready());
    EXPECT_FALSE(copied.ready());
    EXPECT_FALSE(held.released_by_itself()) << "a call waited for the other device";
    held.release();
    const std::vector<float> got = there.read(1);
    EXPECT_TRUE(was_ready);
    for (const std::size_t i : {std::size_t{0}, n / 2, n - 1}) EXPECT_NEAR(got[i], expected, 0.01f);
}

TEST(DeviceWaits, EachDeviceWaitsForEachOtherDevice) {
    const std::vector<std::string> names = {"cpu:0", "vulkan:llvmpipe", "opencl:0"};
    int pairs = 0;
    for (const std::string& first : names) {
        for (const std::string& second : names) {
            if (first == second) continue;
            const auto context = open_devices({first, second});
            if (!context) continue;
            SCOPED_TRACE(second + " waits for " + first);
            const auto use = context->use();
            wait_for_the_other_device();
            ++pairs;
        }
    }
    if (pairs == 0) GTEST_SKIP() << "this machine has only one device";
}

TEST(GraphDevices, TakeKernelsWrittenInGlsl) {
    const auto context = open_devices({"vulkan:llvmpipe"});
    if (!context) GTEST_SKIP() << "this machine has no lavapipe";
    const auto use = context->use();
    std::optional<Kernel<Buff<float>, Const<float>>> twice;
    try {
        twice = kernel_from_glsl<Buff<float>, Const<float>>(
            "twice",
            "#version 450\nlayout(local_size_x = 64) in;\nlayout(binding = 0) buffer B { float x[]; };\n"
            "layout(push_constant) uniform P { float s; };\n"
            "void main() { x[gl_GlobalInvocationID.x] *= s; }\n");
    } catch (const Error& error) {
        if (error.code() != ErrorCode::Unsupported) throw;
        GTEST_SKIP() << "this build has no GLSL compiler";
    }
    Buffer<float> data = as_buffer(std::vector<float>(64, 1.0f));
    auto g = record([&] {
        (*twice)(data, 2.0f);
        add_number()(data, 1.0f);
        (*twice)(data, dyn<float>("s"));
    });
    g.bind("s", {3.0f, 5.0f});
    g.submit({.instances = 2});
    EXPECT_EQ(data.read(0)[63], ((1.0f * 2 + 1) * 3 * 2 + 1) * 5);
}

TEST(GraphDevices, TakeKernelsWrittenInOpenClC) {
    const auto context = open_devices({"opencl:0"});
    if (!context) GTEST_SKIP() << "this machine has no OpenCL device";
    const auto use = context->use();
    const auto twice = kernel_from_opencl<Buff<float>, Const<float>>(
        "twice", "kernel void twice(global float* x, float s) { x[get_global_id(0)] *= s; }");
    Buffer<float> data = as_buffer(std::vector<float>(64, 1.0f));
    auto g = record([&] {
        twice(data, 2.0f);
        twice(data, dyn<float>("s"));
    });
    g.bind("s", {3.0f, 5.0f});
    g.submit({.instances = 2});
    EXPECT_EQ(data.read(0)[63], 60.0f);
}

VOLLEY_BACKEND_TEST(GraphMemoryLimit, AGraphThatDoesNotFitFailsAndASmallerOneRuns) {
    constexpr std::uint64_t limit = std::uint64_t{64} << 20;
    const Context context = make_context({.devices = {device().id()}, .memory_limit = limit});
    const auto use = context.use();
    Buffer<float> data = as_buffer(std::vector<float>(1000, 1.0f));
    auto large = record([&] {
        add_number()(data, 1.0f);
        Buffer<float> one = temporary<float>(Shape(40 << 20)), two = temporary<float>(Shape(40 << 20));
        one.fill(1.0f);
        two.fill(1.0f);
        two.copy_from(one);
    });
    error_of(ErrorCode::OutOfMemory, [&] { large.submit(); });
    error_of(ErrorCode::OutOfMemory, [&] { large.submit(); });
    EXPECT_EQ(data.read(0)[0], 1.0f) << "nothing ran";
    auto small = record([&] { add_number()(data, 1.0f); });
    small.submit();
    EXPECT_EQ(data.read(0)[0], 2.0f);
}

VOLLEY_BACKEND_TEST(GraphMemoryLimit, TemporariesFitBecauseTheyShareMemory) {
    constexpr std::uint64_t limit = std::uint64_t{64} << 20;
    constexpr std::int64_t n = 4 << 20;  // 16 MiB
    const Context context = make_context({.devices = {device().id()}, .memory_limit = limit});
    const auto use = context.use();
    Buffer<float> result(1);
    auto g = record([&] {
        Buffer<float> current = temporary<float>(Shape(n));
        current.fill(1.0f);
        for (int i = 0; i < 5; ++i) {
            Buffer<float> next = temporary<float>(Shape(n));
            next.copy_from(current);
            add_number().over(1)(next, 1.0f);
            current = next;
        }
        result.copy_from(current.view(0, 1));
    });
    EXPECT_EQ(g.memory().naive, 6u * 16 << 20);
    EXPECT_EQ(g.memory().planned, 2u * 16 << 20);
    g.submit();
    EXPECT_EQ(result.read(0)[0], 6.0f);
}

}  // namespace
}  // namespace volley
