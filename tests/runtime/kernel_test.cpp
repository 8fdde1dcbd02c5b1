// Kernels are traced once, and compiled once per context, identified by the hash of their IR.
#include "runtime/runtime_support.hpp"
#include "support/sanitized.hpp"

#include <atomic>
#include <chrono>
#include <thread>

namespace volley {
namespace {

using testing::expect_contains;
using testing::NullContext;

// Made and traced while static objects are initialised, before any context exists.
const auto made_before_main =
    kernel("made before main", [](Buff<vec3> data) { data[global_id().x] = vec3(1, 2, 3); });

TEST(Kernel, MayBeMadeBeforeMain) {
    Buffer<vec3> data(5);
    made_before_main(data);
    EXPECT_EQ(data.read(0)[4], vec3(1, 2, 3));
}

TEST(Kernel, IsTracedOnceWhenItIsMade) {
    int traced = 0;
    auto set = kernel("set", [&traced](Buff<int> data) {
        ++traced;
        data[global_id().x] = 1;
    });
    EXPECT_EQ(traced, 1);
    Buffer<int> data(4);
    for (int i = 0; i < 10; ++i) set(data);
    auto copy = set;
    copy.over(2)(data);
    EXPECT_EQ(traced, 1);
}

TEST(Kernel, DoesNotKeepItsLambda) {
    auto token = std::make_shared<int>(3);
    auto set = kernel("set", [token](Buff<int> data) { data[global_id().x] = *token; });
    EXPECT_EQ(token.use_count(), 1);
    Buffer<int> data(4);
    set(data);
    EXPECT_EQ(data.read(0)[3], 3);
}

TEST(Kernel, ReadsItsCapturesWhenItIsMade) {
    int number = 5;
    const auto set = kernel("set", [&](Buff<int> data) { data[global_id().x] = number; });
    number = 6;
    Buffer<int> data(4);
    set(data);
    EXPECT_EQ(data.read(0)[0], 5);
}

Kernel<Buff<int>> sets_sum_of(int a, int b) {
    const int sum = a + b;
    return kernel("sets sum", [&](Buff<int> data) { data[global_id().x] = sum; });
}

TEST(Kernel, ThatAFunctionReturnsMayCaptureItsLocalsByReference) {
    const auto set = sets_sum_of(30, 12);
    Buffer<int> data(4);
    set(data);
    EXPECT_EQ(data.read(0)[0], 42);
}

TEST(Kernel, IsCheckedWhenItIsMade) {
    testing::error_of(ErrorCode::TraceError, [] { (void)kernel("jump", [](Buff<int>) { $break; }); });
    const std::string text = testing::error_of(ErrorCode::IrError, [] {
        (void)kernel("divergent", {.local = {64}}, [](Buff<int>) {
            $if (local_id().x < 5u) {
                barrier();
            }
        });
    });
    expect_contains(text, "kernel 'divergent'");
    expect_contains(text, "kernel_test.cpp");
}

// What depends on the device cannot be known earlier.
TEST(Kernel, IsCheckedAgainstTheDeviceWhenItIsLaunched) {
    const auto greedy = kernel("greedy", {.local = {8}}, [](Buff<int> data) {
        Shared<int> tile(100'000'000);
        tile[local_id().x] = data[global_id().x];
        barrier();
        data[global_id().x] = tile[7u - local_id().x];
    });
    Buffer<int> data(8);
    expect_contains(testing::error_of(ErrorCode::InvalidLaunch, [&] { greedy(data); }), "shared memory");
}

TEST(Kernel, ReturnsItsIrAndItsCode) {
    auto scale = kernel("scale", [](Buff<float> data, Const<float> alpha) {
        data[global_id().x] = data[global_id().x] * alpha;
    });
    EXPECT_EQ(scale.name(), "scale");
    expect_contains(scale.ir(), "mul");
    EXPECT_FALSE(scale.code().empty());
}

// The optimising code generator takes ten times as long, and grows quadratically from there.
TEST(Kernel, WithTensOfThousandsOfOperationsCompilesInSeconds) {
    const Context context = make_context({.devices = {"cpu:0"}});
    const auto use = context.use();
    constexpr u32 steps = 12'000;
    Buffer<u32> data(100);
    data.fill(7);
    const auto start = std::chrono::steady_clock::now();
    kernel("vast", [](Buff<u32> d) {
        const auto i = global_id().x;
        Var<u32> v = d[i] + i;
        for (u32 k = 0; k < steps; ++k) v = (v ^ (k % 64)) * 3u + i;
        d[i] = v;
    })(data);
    const std::vector<u32> got = data.read(0);
    EXPECT_LT(std::chrono::steady_clock::now() - start,
              std::chrono::seconds(testing::unless_sanitized(12, 120)));
    for (u32 i = 0; i < 100; ++i) {
        u32 v = 7 + i;
        for (u32 k = 0; k < steps; ++k) v = (v ^ (k % 64)) * 3 + i;
        ASSERT_EQ(got[i], v) << i;
    }
}

TEST(Kernel, IsCompiledOncePerContextHoweverOftenItIsCreated) {
    NullContext first;
    const auto launch = [](int number) {
        auto add =
            kernel("add", [number](Buff<int> data) { data[global_id().x] = data[global_id().x] + number; });
        Buffer<int> data(64);
        add(data);
    };
    {
        const auto use = first.context.use();
        for (int i = 0; i < 5; ++i) launch(1);
        EXPECT_EQ(first.log->programs_made, 1u);
        launch(2);
        EXPECT_EQ(first.log->programs_made, 2u) << "a different constant makes a different kernel";
    }
    NullContext second;
    const auto use = second.context.use();
    launch(1);
    EXPECT_EQ(second.log->programs_made, 1u);
}

TEST(Kernel, IsCompiledForEachDeviceOfAContext) {
    NullContext null({.devices = {"null:0", "null:1"}, .queues_per_device = 2});
    const auto use = null.context.use();
    auto set = kernel("set", [](Buff<int> data) { data[global_id().x] = 1; });
    Buffer<int> data(64);
    set.on(queue(0))(data);
    EXPECT_EQ(null.log->programs_made, 1u);
    set(data);
    EXPECT_EQ(null.log->programs_made, 2u);
}

TEST(Kernel, WorksInSeveralContexts) {
    auto set = kernel("set", [](Buff<int> data, Const<int> value) { data[global_id().x] = value; });
    const Context a = make_context({.devices = {"cpu"}});
    const Context b = make_context({.devices = {"reference"}});
    Buffer<int> in_a, in_b;
    {
        const auto use = a.use();
        in_a = Buffer<int>(10);
    }
    {
        const auto use = b.use();
        in_b = Buffer<int>(10);
    }
    for (int i = 0; i < 5; ++i) {
        set.on(a.queue(0))(in_a, i);
        set.on(b.queue(0))(in_b, 10 + i);
        EXPECT_EQ(in_a.read(0)[9], i);
        EXPECT_EQ(in_b.read(0)[9], 10 + i);
    }
}

TEST(Kernel, IsTracedAndLaunchedByManyThreadsConcurrently) {
    auto add = kernel(
        "add", [](Buff<int> data, Const<int> value) { data[global_id().x] = data[global_id().x] + value; });
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            Buffer<int> mine(1000 + t);
            mine.fill(0);
            for (int i = 0; i < 200; ++i) {
                add(mine, 1);
                auto own =
                    kernel("own", [t](Buff<int> data) { data[global_id().x] = data[global_id().x] + t; });
                if (i % 50 == 0) own(mine);
            }
            if (mine.read(0)[999] != 200 + 4 * t) ++wrong;
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

TEST(Kernel, LargeAndSmallGridsGiveTheSameResult) {
    auto square = kernel("square", [](Buff<u32> data) {
        auto i = global_id().x;
        data[i] = i * i;
    });
    for (const u32 size : {1u, 7u, 8u, 1000u, 100'003u, 3'000'000u}) {
        Buffer<u32> data(size);
        square(data);
        const std::vector<u32> result = data.read(0);
        for (u32 i = 0; i < size; ++i) ASSERT_EQ(result[i], i * i) << size;
    }
}

TEST(Kernel, ManyLaunchesWithoutAWaitRunInOrder) {
    auto step = kernel(
        "step", [](Buff<u32> data, Const<u32> k) { data[global_id().x] = data[global_id().x] * 3u + k; });
    for (const u32 size : {100u, 200'000u}) {
        Buffer<u32> data(size);
        data.fill(1);
        u32 expected = 1;
        for (u32 k = 0; k < 2000; ++k) {
            step(data, k);
            expected = expected * 3 + k;
        }
        const std::vector<u32> result = data.read(0);
        EXPECT_EQ(result.front(), expected);
        EXPECT_EQ(result.back(), expected);
    }
}

}  // namespace
}  // namespace volley
