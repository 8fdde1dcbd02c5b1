// Events: callbacks that run when work completes, and queues that wait for events of other queues, for
// signals and for other contexts.
#include "graphs/graph_support.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace volley {
namespace {

using testing::add_number;
using testing::error_of;
using testing::scale_by;
using namespace std::chrono_literals;

VOLLEY_BACKEND_TEST(EventTest, ThenCallsAFunctionWhenTheWorkIsDone) {
    Buffer<float> data = as_buffer(std::vector<float>(1000, 1.0f));
    std::atomic<bool> was_ready = false;
    const Event done = scale_by()(data, 2.0f);
    const Event called = done.then([&] { was_ready = done.ready(); });
    called.wait();
    EXPECT_TRUE(called.ready());
    EXPECT_TRUE(was_ready);
}

VOLLEY_BACKEND_TEST(EventTest, FunctionsChain) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    std::vector<int> order;
    Event last = scale_by()(data, 2.0f).then([&] { order.push_back(1); });
    last.wait();
    last = add_number()(data, 1.0f).then([&] { order.push_back(2); });
    last = last.then([&] { order.push_back(3); });
    last.wait();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

VOLLEY_BACKEND_TEST(EventTest, AnExceptionOfAFunctionIsRethrownByWait) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    const Event bad = scale_by()(data, 2.0f).then([] { throw std::runtime_error("user error"); });
    EXPECT_THROW(bad.wait(), std::runtime_error);
    EXPECT_NO_THROW(bad.wait()) << "thrown only once";
    scale_by()(data, 2.0f).wait();
    EXPECT_EQ(data.read(0)[0], 4.0f);
}

VOLLEY_BACKEND_TEST(EventTest, AFunctionMayUseTheLibrary) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f)), other(8);
    const Context context = current_context();
    float seen = 0;
    scale_by()(data, 2.0f)
        .then([&] {
            const auto use = context.use();
            seen = data.read(0)[5];
            other.copy_from(data);
            wait();
        })
        .wait();
    EXPECT_EQ(seen, 2.0f);
    EXPECT_EQ(other.read(1)[0], 2.0f);
}

VOLLEY_BACKEND_TEST(EventTest, AQueueWaitsForAnEventOfAnotherQueue) {
    // Each buffer is on one queue only, so only the event orders the work.
    Buffer<float> a({1}, {.placement = Placement::on(queue(0))}),
        b({1}, {.placement = Placement::on(queue(1))});
    std::vector<int> order;
    const Event first = host_call(
        [&] {
            std::this_thread::sleep_for(5ms);
            order.push_back(1);
        },
        queue(0));
    queue(1).depends_on(first);
    host_call([&] { order.push_back(2); }, queue(1)).wait();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
    EXPECT_TRUE(first.ready());
}

VOLLEY_BACKEND_TEST(EventTest, AHostCallAfterAReadOnAnotherQueueSeesTheBytes) {
    Buffer<float> data = as_buffer(std::vector<float>(10'000, 0.0f)), busy(data.size());
    for (int k = 1; k <= 5; ++k) {
        testing::slow().on(queue(0))(busy, 300u);
        add_number().on(queue(0))(data, 1.0f);
        std::vector<float> home(data.size(), -1.0f);
        queue(1).depends_on(data.read_async(home, 0));
        float seen = -1;
        host_call([&] { seen = home.back(); }, queue(1)).wait();
        EXPECT_EQ(seen, static_cast<float>(k));
    }
}

VOLLEY_BACKEND_TEST(EventTest, AQueueWaitsForASignal) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    Signal signal;
    queue(0).depends_on(signal.event());
    const Event scaled = scale_by().on(queue(0))(data, 2.0f);
    const Event free = scale_by().on(queue(1))(data, 3.0f);
    free.wait();
    EXPECT_FALSE(scaled.ready());
    EXPECT_FALSE(scaled.wait_for(1ms));
    EXPECT_FALSE(signal.is_raised());
    signal.raise();
    scaled.wait();
    EXPECT_EQ(data.read(0)[0], 2.0f);
    EXPECT_EQ(data.read(1)[0], 3.0f);
    signal.wait();
}

VOLLEY_BACKEND_TEST(EventTest, ASignalRaisedByOneQueueStartsAnother) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    Signal signal;
    queue(1).depends_on(signal.event());
    scale_by().on(queue(1))(data, 2.0f);
    host_call([signal]() mutable { signal.raise(); }, queue(0));
    EXPECT_EQ(data.read(1)[0], 2.0f);
}

VOLLEY_BACKEND_TEST(EventTest, AQueueWaitsForWorkOfAnotherContext) {
    const Context other = make_context({.devices = {"cpu:0"}});
    Buffer<float> theirs;
    {
        const auto use = other.use();
        theirs = as_buffer(std::vector<float>(8, 1.0f));
    }
    Event done;
    {
        const auto use = other.use();
        host_call([] { std::this_thread::sleep_for(2ms); });
        done = scale_by()(theirs, 5.0f);
    }
    queue(0).depends_on(done);
    bool ready = false;
    host_call([&] { ready = done.ready(); }, queue(0)).wait();
    EXPECT_TRUE(ready);
}

VOLLEY_BACKEND_TEST(EventTest, AnEventCanBeWaitedForTwice) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    const Event done = scale_by()(data, 2.0f);
    done.wait();
    done.wait();
    EXPECT_TRUE(done.wait_for(0ns));
    current_context().wait(0);
    EXPECT_THROW(current_context().wait(7), ArgumentError);
    EXPECT_NO_THROW(Event().then([] {}).wait());
}

VOLLEY_BACKEND_TEST(EventTest, AContextRunsPendingFunctionsBeforeItIsDestroyed) {
    std::atomic<int> called = 0;
    {
        const Context context = make_context({.devices = {device().id()}});
        const auto use = context.use();
        Buffer<float> data = as_buffer(std::vector<float>(10'000, 1.0f));
        for (int i = 0; i < 20; ++i) (void)scale_by()(data, 1.5f).then([&] { ++called; });
    }
    EXPECT_EQ(called, 20);
}

TEST(CpuEventTest, AQueueWaitingForASignalDoesNotBlockOtherQueues) {
    for (const unsigned threads : {1u, 2u, 3u}) {
        SCOPED_TRACE(threads);
        const Context context =
            make_context({.devices = {"cpu:0"}, .queues_per_device = 3, .cpu_threads = threads});
        const auto use = context.use();
        Buffer<float> data({8}, {.placement = Placement::on(queue(1))});
        data.fill(1.0f);
        Signal signal;
        queue(0).depends_on(signal.event());
        queue(1).depends_on(host_call([] {}, queue(0)));
        const Event scaled = scale_by().on(queue(1))(data, 2.0f);
        host_call([signal]() mutable { signal.raise(); }, queue(2));
        scaled.wait();
        EXPECT_EQ(data.read(1)[7], 2.0f);
    }
}

TEST(CpuEventTest, ALargeWriteAfterASignalDoesNotBlock) {
    const Context context = make_context({.devices = {"cpu:0"}});
    const auto use = context.use();
    Buffer<float> data(100'000);
    Signal signal;
    queue(0).depends_on(signal.event());
    data.write(std::vector<float>(100'000, 3.0f));
    signal.raise();
    EXPECT_EQ(data.read(0)[99'999], 3.0f);
}

TEST(CpuEventTest, AHostCallMayUseTheLibraryWithOneThread) {
    const Context context = make_context({.devices = {"cpu:0"}, .cpu_threads = 1});
    const auto use = context.use();
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    CommandGraph graph = record([&] { add_number()(data, dyn<float>("x")); });
    Signal signal;
    const Event called = host_call([&, signal] {
        const auto inside = context.use();
        signal.wait();
        graph.bind("x", 2.0f);
    });
    signal.raise();
    called.wait();
    graph.submit().wait();
    EXPECT_EQ(data.read(0)[7], 3.0f);
}

}  // namespace
}  // namespace volley
