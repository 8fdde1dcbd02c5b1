// Changing graphs: appending while recording and from several threads, rebinding buffers, other replicas and
// queues, and the state after a failed change.
#include "graphs/graph_support.hpp"
#include "support/expect_error.hpp"

#include <atomic>
#include <string>
#include <thread>

namespace volley {
namespace {

using testing::add_number;
using testing::error_of;
using testing::expect_contains;
using testing::scale_by;

auto add_two() {
    return kernel("add_two", [](Buff<float> data, Const<std::int32_t> x, Const<std::int32_t> y) {
        const auto i = global_id().x;
        data[i] = data[i] + cast<float>(x) + cast<float>(y) * 10.0f;
    });
}

VOLLEY_BACKEND_TEST(GraphChanges, NamesStayCorrectWhenTheGraphIsAppendedToWhileRecording) {
    Buffer<float> a = as_buffer(std::vector<float>(4, 0.0f));
    Buffer<float> b = as_buffer(std::vector<float>(4, 0.0f));
    CommandGraph g;
    g.append([&] {
        add_number()(a, dyn<float>("x"));
        g.append([&] { add_two()(b, dyn<std::int32_t>("y"), dyn<std::int32_t>("z")); });
    });
    g.bind("x", 1.0f);
    g.bind("y", 2);
    g.bind("z", 3);
    g.submit().wait();
    EXPECT_EQ(a.read(0)[0], 1.0f);
    EXPECT_EQ(b.read(0)[0], 32.0f);
}

VOLLEY_BACKEND_TEST(GraphChanges, ThreadsMayAppendToOneGraph) {
    constexpr int count = 4;
    const Context context = current_context();
    std::vector<Buffer<float>> data;
    for (int k = 0; k < count; ++k) data.push_back(as_buffer(std::vector<float>(4, 0.0f)));
    CommandGraph g;
    std::atomic<int> inside = 0;
    std::vector<std::thread> threads;
    for (int k = 0; k < count; ++k) {
        threads.emplace_back([&, k] {
            const ContextScope scope = context.use();
            g.append([&] {
                ++inside;
                while (inside < count) std::this_thread::yield();
                add_number()(data[static_cast<std::size_t>(k)], dyn<float>("v" + std::to_string(k)));
            });
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (int k = 0; k < count; ++k) g.bind("v" + std::to_string(k), static_cast<float>(k + 1));
    g.submit().wait();
    for (int k = 0; k < count; ++k)
        EXPECT_EQ(data[static_cast<std::size_t>(k)].read(0)[3], static_cast<float>(k + 1));
}

VOLLEY_BACKEND_TEST(GraphChanges, AnInnerGraphThatCannotBeRecordedAddsNothing) {
    Buffer<float> data = as_buffer(std::vector<float>(4, 0.0f));
    CommandGraph inner = record([&] {
        add_number()(data, dyn<float>("a"));
        add_number()(data, dyn<float>("b"));
    });
    CommandGraph outer = record([&] {
        add_two()(data, dyn<std::int32_t>("b"), dyn<std::int32_t>("c"));
        EXPECT_THROW(inner.submit(), ArgumentError) << "'b' has another type here";
    });
    EXPECT_EQ(outer.size(), 1u);
    outer.bind("b", 1);
    outer.bind("c", 2);
    EXPECT_NO_THROW(outer.submit().wait()) << "'a' needs no value";
}

VOLLEY_BACKEND_TEST(GraphChanges, RebindRequiresAsMuchPadding) {
    Buffer<float> padded({2, 4}, {.padded_shape = {4, 4}});
    Buffer<float> other({2, 4}, {.padded_shape = {4, 4}});
    Buffer<float> big = as_buffer(std::vector<float>(32, 0.0f));
    const Buffer<float> bare(big.view(0, 8).reshape({2, 4}));
    CommandGraph g = record([&] { scale_by()(padded, 2.0f); });
    expect_contains(error_of(ErrorCode::SizeMismatch, [&] { g.rebind(padded, bare); }), "padding");
    other.fill(3.0f);
    g.rebind(padded, other);
    g.submit().wait();
    EXPECT_EQ(other.read(0)[7], 6.0f);
}

VOLLEY_BACKEND_TEST(GraphChanges, CopiesReadTheNearestWrittenReplica) {
    Buffer<float> a(100), b(100);
    a.write(std::vector<float>(100, 1.0f), queue(1));
    CommandGraph g = record([&] { b.copy_from(a); });
    g.submit().wait();
    EXPECT_EQ(b.read(0)[99], 1.0f);
    EXPECT_EQ(b.read(1)[99], 1.0f);
    a.write(std::vector<float>(100, 2.0f), queue(0));
    g.submit().wait();
    EXPECT_EQ(b.read(0)[99], 2.0f) << "its own replica, which is written now";
    EXPECT_EQ(b.read(1)[99], 1.0f);
}

VOLLEY_BACKEND_TEST(GraphChanges, CopiesReadReplicasWrittenByTheGraphItself) {
    Buffer<float> a(100), b(100);
    a.write(std::vector<float>(100, 3.0f), queue(1));
    CommandGraph g = record([&] {
        Buffer<float> fresh(100);
        fresh.copy_from(a);
        scale_by().on(queue(1))(fresh, 2.0f);
        b.copy_from(fresh);
    });
    g.submit({.queue = queue(1)}).wait();
    EXPECT_EQ(b.read(1)[0], 6.0f);
}

VOLLEY_BACKEND_TEST(GraphChanges, ReadingAnUnwrittenBufferFailsOnSubmit) {
    Buffer<float> never(64), b(64);
    b.fill(5.0f);
    CommandGraph copy = record([&] { b.copy_from(never); });
    expect_contains(error_of(ErrorCode::NotAllocated, [&] { copy.submit(); }), "before anything was written");
    HostArray<float> host = never.empty_like();
    CommandGraph read = record([&] { never.read_async(host, 0); });
    expect_contains(error_of(ErrorCode::NotAllocated, [&] { read.submit(); }), "queue 0");
    EXPECT_EQ(b.read(0)[0], 5.0f) << "nothing has run";
    never.fill(1.0f);
    EXPECT_NO_THROW(copy.submit().wait());
    EXPECT_NO_THROW(read.submit().wait());
    EXPECT_EQ(b.read(1)[63], 1.0f);
}

VOLLEY_BACKEND_TEST(GraphChanges, AnyAndSpreadUseOnlyQueuesThatHaveTheBuffers) {
    Buffer<float> data({8}, {.placement = Placement::on(queue(1))});
    data.fill(1.0f);
    CommandGraph g = record([&] { scale_by()(data, 2.0f); });
    g.submit({.any = true}).wait();
    g.submit({.instances = 3, .spread = true}).wait();
    EXPECT_EQ(data.read(1)[0], 16.0f);
}

VOLLEY_BACKEND_TEST(GraphChanges, AHostCallKeepsItsStateBetweenCalls) {
    std::vector<int> seen;
    CommandGraph g = record([&] { host_call([&seen, n = 0]() mutable { seen.push_back(++n); }); });
    g.submit({.instances = 2}).wait();
    g.submit().wait();
    EXPECT_EQ(seen, (std::vector<int>{1, 2, 3}));
}

VOLLEY_BACKEND_TEST(GraphChanges, AHostCallMayUseItsOwnGraph) {
    Buffer<float> data = as_buffer(std::vector<float>(4, 0.0f));
    CommandGraph g;
    g.append([&] {
        add_number()(data, dyn<float>("x"));
        host_call([&] { g.bind("x", 2.0f); });
    });
    g.bind("x", 1.0f);
    g.submit().wait();
    g.submit().wait();
    EXPECT_EQ(data.read(0)[0], 3.0f);
}

VOLLEY_BACKEND_TEST(GraphChanges, AKernelBodyCannotSubmitWork) {
    Buffer<float> data = as_buffer(std::vector<float>(4, 1.0f));
    Buffer<float> out(4);
    CommandGraph g = record([&] { data.fill(5.0f); });
    const auto refused = [&](auto&& act) {
        const auto acts = [&](Buff<float> x) {
            act();
            x[global_id().x] = 1.0f;
        };
        expect_contains(error_of(ErrorCode::TraceError, [&] { (void)kernel("acts", acts); }), "only traced");
    };
    refused([&] { g.submit(); });
    refused([&] { host_call([] {}); });
    refused([&] { data.fill(9.0f); });
    refused([&] { data.write(std::vector<float>(4, 9.0f)); });
    refused([&] { static_cast<void>(data.read(0)); });
    refused([&] { data.copy_from(out); });
    refused([] { fence(); });
    refused([] { static_cast<void>(mark()); });
    refused([] { static_cast<void>(profile([] {})); });
    refused([] { queue(0).depends_on(Event()); });
    EXPECT_EQ(data.read(0)[0], 1.0f);
}

VOLLEY_BACKEND_TEST(GraphChanges, NoLockIsHeldDuringAWait) {
    const BufferOptions shared{.placement = Placement::per_device};
    Buffer<float> a({8}, shared), b({8}, shared), other({8}, shared);
    for (Buffer<float>* one : {&a, &b, &other}) one->fill(1.0f);
    wait();
    const auto scale = scale_by();
    scale(other, 1.0f);
    HostArray<float> host = a.empty_like();
    Signal reading;
    host_call(
        [&] {
            reading.wait();
            scale(other, 2.0f);
        },
        queue(0));
    a.read_async(host, 0);
    std::thread raiser([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        reading.raise();
    });
    b.write(host);  // waits for the read into the array
    EXPECT_EQ(b.read(0)[0], 1.0f);
    wait();
    EXPECT_EQ(other.read(0)[7], 2.0f);
    raiser.join();
}

}  // namespace
}  // namespace volley
