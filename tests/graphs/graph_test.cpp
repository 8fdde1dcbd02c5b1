// Recording, submitting and replaying graphs, on every backend with two queues.
#include "graphs/graph_support.hpp"

#include <algorithm>
#include <chrono>

namespace volley {
namespace {

using testing::add_number;
using testing::axpy;
using testing::counting;
using testing::scale_by;

VOLLEY_BACKEND_TEST(Graph, RunsItsCommandsOnSubmitAndNotBefore) {
    Buffer<float> data = as_buffer(std::vector<float>(100, 1.0f));
    const CommandGraph g = record([&] {
        scale_by()(data, 2.0f);
        scale_by()(data, 3.0f);
    });
    EXPECT_EQ(g.size(), 2u);
    EXPECT_EQ(data.read(0)[7], 1.0f);
    CommandGraph(g).submit().wait();
    for (const auto& replica : data.read()) EXPECT_EQ(replica, std::vector<float>(100, 6.0f));
    CommandGraph(g).submit();
    EXPECT_EQ(data.read(1)[99], 36.0f) << "read() waits for the graph";
}

VOLLEY_BACKEND_TEST(Graph, ReplaysDependentCommandsInOrder) {
    Buffer<float> a = as_buffer(std::vector<float>(64, 1.0f));
    Buffer<float> b(64), c(64);
    auto g = record([&] {
        b.copy_from(a);
        axpy()(b, a, 2.0f);  // b = 3 a
        c.fill(5.0f);
        axpy()(c, b, 1.0f);  // c = 5 + 3 a
        a.copy_from(c);      // a = 5 + 3 a
    });
    float expected = 1.0f;
    for (int i = 0; i < 4; ++i) {
        g.submit();
        expected = 5 + 3 * expected;
    }
    EXPECT_EQ(a.read(0), std::vector<float>(64, expected));
    EXPECT_EQ(a.read(1), std::vector<float>(64, expected));
}

VOLLEY_BACKEND_TEST(Graph, EachInstanceUsesItsOwnValue) {
    Buffer<float> data = as_buffer(std::vector<float>(33, 0.0f));
    auto g = record([&] {
        scale_by()(data, 2.0f);
        add_number()(data, dyn<float>("x"));
    });
    g.bind("x", {1.0f, 2.0f, 3.0f});
    g.submit({.instances = 3}).wait();
    EXPECT_EQ(data.read(0)[32], ((0 * 2 + 1) * 2 + 2) * 2 + 3.0f);
    g.bind("x", 10.0f);
    g.submit({.instances = 2});
    EXPECT_EQ(data.read(0)[0], (11.0f * 2 + 10) * 2 + 10) << "one value for all";
}

VOLLEY_BACKEND_TEST(Graph, AThousandInstancesUseTheirOwnValues) {
    Buffer<std::uint32_t> hash = as_buffer(std::vector<std::uint32_t>(5, 1));
    auto step = kernel("step", [](Buff<std::uint32_t> data, Const<std::uint32_t> x) {
        const auto i = global_id().x;
        data[i] = data[i] * 31u + x;
    });
    auto g = record([&] { step(hash, dyn<std::uint32_t>("x")); });
    std::vector<std::uint32_t> values(1000);
    std::uint32_t expected = 1;
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] = static_cast<std::uint32_t>(i * 7 + round);
            expected = expected * 31u + values[i];
        }
        g.bind("x", values);
        g.submit({.instances = 1000});
    }
    EXPECT_EQ(hash.read(0)[4], expected);
    EXPECT_EQ(hash.read(1)[0], expected);
}

VOLLEY_BACKEND_TEST(Graph, RunsOnOneQueueAnyQueueOrSpreadOverAll) {
    Buffer<float> data = as_buffer(std::vector<float>(16, 0.0f));
    auto g = record([&] { add_number()(data, dyn<float>("x")); });
    g.bind("x", {1.0f, 2.0f, 4.0f, 8.0f});
    g.submit({.queue = queue(1)});
    EXPECT_EQ(data.read(0)[0], 0.0f);
    EXPECT_EQ(data.read(1)[0], 1.0f);
    g.submit({.any = true});
    wait();
    EXPECT_EQ(data.read(0)[0] + data.read(1)[0], 2.0f);
    data.write(std::vector<float>(16, 0.0f));
    g.submit({.instances = 4, .spread = true}).wait();
    EXPECT_EQ(data.read(0)[3], 3.0f) << "the first half of the instances";
    EXPECT_EQ(data.read(1)[3], 12.0f);
}

VOLLEY_BACKEND_TEST(Graph, CommandsOnNamedQueuesAreOrderedBySharedMemory) {
    Buffer<float> data({64}, {.placement = Placement::per_device});
    data.fill(1.0f);
    auto g = record([&] {
        add_number().on(queue(0))(data, 1.0f);
        scale_by().on(queue(1))(data, 3.0f);
        add_number().on(queue(0))(data, 2.0f);
    });
    float expected = 1.0f;
    for (int i = 0; i < 20; ++i) {
        g.submit();
        expected = (expected + 1) * 3 + 2;
        if (i % 4 == 3) {
            data.fill(1.0f);
            expected = 1.0f;
        }
    }
    g.submit({.instances = 2});
    expected = (((expected + 1) * 3 + 2) + 1) * 3 + 2;
    EXPECT_EQ(data.read(0), std::vector<float>(64, expected));
}

VOLLEY_BACKEND_TEST(Graph, TemporariesShareMemoryByLifetime) {
    constexpr std::size_t n = 1000;
    Buffer<float> in = as_buffer(counting<float>(n)), out(n);
    auto g = record([&] {
        Buffer<float> current = in;
        for (int i = 0; i < 6; ++i) {
            Buffer<float> next = temporary<float>(Shape(n));
            next.copy_from(current);
            add_number()(next, 1.0f);
            current = next;
        }
        out.copy_from(current);
    });
    EXPECT_EQ(g.memory().naive, 6 * 4096u);
    EXPECT_EQ(g.memory().planned, 2 * 4096u);
    for (int i = 0; i < 3; ++i) g.submit();
    std::vector<float> expected = counting<float>(n);
    for (float& x : expected) x += 6;
    EXPECT_EQ(out.read(0), expected);
    EXPECT_EQ(out.read(1), expected);
}

VOLLEY_BACKEND_TEST(Graph, HostCallsRunInOrderOncePerInstance) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    const HostArray<float> seen = data.empty_like();
    std::vector<float> values;
    auto g = record([&] {
        scale_by()(data, 2.0f);
        data.read_async(seen, 0);
        host_call([&] { values.push_back(seen(3)); });
        add_number()(data, 1.0f);
    });
    g.submit({.instances = 3}).wait();
    EXPECT_EQ(values, (std::vector<float>{2, 6, 14}));
    EXPECT_EQ(data.read(0)[0], 15.0f);
}

VOLLEY_BACKEND_TEST(Graph, AHostCallFollowsAllQueuesEvenThoseItsGraphDoesNotUse) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 5.0f));
    const HostArray<float> seen = data.empty_like();
    std::fill_n(seen.data(), 8, 0.0f);
    float value = 0;
    auto g = record([&] { host_call([&] { value = seen(3); }); });
    g.submit().wait();
    Signal go;
    queue(1).depends_on(go.event());
    data.read_async(seen, 1);
    const Event called = g.submit();
    EXPECT_FALSE(called.wait_for(std::chrono::milliseconds(5)));
    go.raise();
    called.wait();
    EXPECT_EQ(value, 5.0f);
}

VOLLEY_BACKEND_TEST(Graph, CommandsAfterAHostCallWaitForItOnAllQueues) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 5.0f));
    wait();
    Signal go;
    auto g = record([&] { host_call([go] { go.wait(); }); });
    const Event called = g.submit();
    const Event scaled = scale_by().on(queue(1))(data, 2.0f);
    EXPECT_FALSE(scaled.wait_for(std::chrono::milliseconds(5)));
    go.raise();
    scaled.wait();
    EXPECT_TRUE(called.ready());
    // Submitted to one queue, it is ordered with the work of that queue only.
    Signal other;
    queue(1).depends_on(other.event());
    g.submit({.queue = queue(0)}).wait();
    other.raise();
}

VOLLEY_BACKEND_TEST(Graph, HostArraysAreReadAndWrittenByEachRun) {
    Buffer<int> data(100);
    HostArray<int> in = data.empty_like(), out = data.empty_like();
    auto g = record([&] {
        data.write_async(in);
        kernel("double", [](Buff<int> x) { x[global_id().x] = x[global_id().x] * 2; })(data);
        data.read_async(out, 1);
    });
    for (int round = 1; round < 4; ++round) {
        for (int i = 0; i < 100; ++i) in(i) = i * round;
        g.submit().wait();
        for (int i = 0; i < 100; ++i) ASSERT_EQ(out(i), 2 * i * round);
    }
}

VOLLEY_BACKEND_TEST(Graph, PlainHostDataIsCopiedWhenRecorded) {
    Buffer<int> data(10);
    std::vector<int> host = counting<int>(10);
    auto g = record([&] { data.write(host); });
    host.assign(10, -1);
    g.submit();
    EXPECT_EQ(data.read(0), counting<int>(10));
    data.zero();
    g.submit();
    EXPECT_EQ(data.read(1), counting<int>(10));
}

VOLLEY_BACKEND_TEST(Graph, RegionsAndFillsAreReplayed) {
    Buffer<float> a({6, 8}), b({6, 8});
    a.write(counting<float>(48));
    auto g = record([&] {
        b.zero();
        copy_region(b, {slice(1, 4), slice(0, 8, 2)}, a, {slice(2, 5), slice(1, 8, 2)});
        b.sub({slice(5, 6)}).fill(9.0f);
    });
    g.submit();
    g.submit();
    const std::vector<float> got = b.read(0);
    for (int y = 0; y < 6; ++y) {
        for (int x = 0; x < 8; ++x) {
            float expected = 0;
            if (y >= 1 && y < 4 && x % 2 == 0) expected = static_cast<float>((y + 1) * 8 + x + 1);
            if (y == 5) expected = 9;
            ASSERT_EQ(got[static_cast<std::size_t>(y * 8 + x)], expected) << y << ", " << x;
        }
    }
}

VOLLEY_BACKEND_TEST(Graph, GraphsNest) {
    Buffer<float> data = as_buffer(std::vector<float>(4, 1.0f));
    auto inner = record([&] { add_number()(data, dyn<float>("x")); });
    auto open = record([&] { inner.submit(); });
    inner.bind("x", {1.0f, 10.0f});
    auto outer = record([&] {
        auto other = record([&] { scale_by()(data, 100.0f); });
        EXPECT_EQ(other.size(), 1u) << "a separate graph";
        scale_by()(data, 2.0f);
        inner.submit({.instances = 2});
    });
    EXPECT_EQ(outer.size(), 3u);
    outer.submit();
    EXPECT_EQ(data.read(0)[0], 13.0f);
    open.bind("x", 7.0f);
    open.submit();
    EXPECT_EQ(data.read(0)[0], 20.0f) << "names without a value become names of the outer graph";
}

VOLLEY_BACKEND_TEST(Graph, CanBeAppendedToReboundAndReset) {
    Buffer<float> a = as_buffer(std::vector<float>(4, 1.0f)), b = as_buffer(std::vector<float>(4, 2.0f));
    CommandGraph g;
    EXPECT_TRUE(g.empty());
    g.submit().wait();
    g.append([&] { add_number()(a, 1.0f); });
    g.submit();
    g.append([&] { scale_by()(a, 10.0f); });
    g.submit();
    EXPECT_EQ(a.read(0)[0], 30.0f);
    g.rebind(a, b);
    g.submit();
    EXPECT_EQ(a.read(0)[0], 30.0f);
    EXPECT_EQ(b.read(0)[0], 30.0f);
    g.reset();
    EXPECT_TRUE(g.empty());
    g.submit();
    EXPECT_EQ(b.read(0)[0], 30.0f);
}

VOLLEY_BACKEND_TEST(Graph, ReplaysCorrectlyWhenARebindCreatesOverlap) {
    Buffer<float> memory = as_buffer(std::vector<float>(128, 1.0f));
    Buffer<float> x = memory.view(0, 64), y = memory.view(64, 64), half = memory.view(32, 64);
    auto g = record([&] {
        add_number()(x, 1.0f);
        scale_by()(y, 3.0f);
        add_number()(x, 10.0f);
    });
    g.submit();
    EXPECT_EQ(memory.read(0)[0], 12.0f);
    EXPECT_EQ(memory.read(0)[64], 3.0f);
    g.rebind(y, half);  // now overlaps x
    memory.write(std::vector<float>(128, 1.0f));
    for (int i = 0; i < 5; ++i) {
        memory.write(std::vector<float>(128, 1.0f));
        g.submit();
        const std::vector<float> got = memory.read(1);
        EXPECT_EQ(got[0], 12.0f);
        EXPECT_EQ(got[40], 16.0f) << "(1 + 1) * 3 + 10";
        EXPECT_EQ(got[70], 3.0f);
        EXPECT_EQ(got[100], 1.0f);
    }
}

VOLLEY_BACKEND_TEST(Graph, KeepsItsBuffersAlive) {
    Buffer<float> result = as_buffer(std::vector<float>(16, 0.0f));
    CommandGraph g;
    {
        Buffer<float> gone = as_buffer(std::vector<float>(16, 5.0f)),
                      destroyed = as_buffer(std::vector<float>(16, 7.0f));
        g.append([&] {
            axpy()(result, gone, 1.0f);
            axpy()(result, destroyed, 1.0f);
        });
        destroyed.destroy();
        EXPECT_THROW((void)destroyed.read(0), ArgumentError);
    }
    g.submit();
    g.submit();
    EXPECT_EQ(result.read(0)[3], 24.0f);
}

VOLLEY_BACKEND_TEST(Graph, MayBeDestroyedWhileItsWorkIsPending) {
    Buffer<float> data = as_buffer(std::vector<float>(100'000, 1.0f));
    for (int i = 0; i < 10; ++i) {
        auto g = record([&] {
            scale_by()(data, 2.0f);
            scale_by()(data, 0.5f);
            add_number()(data, dyn<float>("x"));
        });
        g.bind("x", 1.0f);
        g.submit();
    }
    EXPECT_EQ(data.read(0)[99'999], 11.0f);
}

VOLLEY_BACKEND_TEST(Graph, EmptySizesAndZeroInstancesDoNothing) {
    Buffer<float> none(0), data = as_buffer(std::vector<float>(4, 1.0f));
    auto g = record([&] {
        scale_by()(none, 2.0f);
        none.zero();
        scale_by().over(0)(data, 2.0f);
    });
    g.submit().wait();
    auto h = record([&] { scale_by()(data, 2.0f); });
    h.submit({.instances = 0}).wait();
    EXPECT_EQ(data.read(0)[0], 1.0f);
}

VOLLEY_BACKEND_TEST(Graph, ABarrierInARecordingOrdersEverything) {
    Buffer<float> a = as_buffer(std::vector<float>(32, 1.0f)), b = as_buffer(std::vector<float>(32, 1.0f));
    auto g = record([&] {
        scale_by()(a, 2.0f);
        fence();
        scale_by()(b, 2.0f);
    });
    EXPECT_NE(g.to_string().find("2: launch scale_by buffer"), std::string::npos) << g.to_string();
    EXPECT_NE(g.to_string().find("after 1"), std::string::npos) << g.to_string();
    g.submit();
    EXPECT_EQ(a.read(0)[0] + b.read(1)[0], 4.0f);
}

}  // namespace
}  // namespace volley
