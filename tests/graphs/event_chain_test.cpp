// Callbacks after events and after each other, signals, and waits with a timeout, on every backend with two
// queues.
#include "graphs/graph_support.hpp"

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>

namespace volley {
namespace {

using namespace std::chrono_literals;
using testing::scale_by;

VOLLEY_BACKEND_TEST(EventChain, ChainedFunctionsDoNotBlockTheCaller) {
    Signal go;
    std::string order;
    const Event first = host_call([&] { go.wait(); });
    const Event second = first.then([&] { order += 'a'; });
    const Event third = second.then([&] { order += 'b'; });
    const Event fourth = third.then([&] { order += 'c'; });
    EXPECT_EQ(order, "");
    EXPECT_FALSE(fourth.ready());
    go.raise();
    fourth.wait();
    EXPECT_EQ(order, "abc");
}

VOLLEY_BACKEND_TEST(EventChain, AFunctionRunsEvenIfThePreviousOneFailed) {
    const Event failed = mark().then([] { throw std::runtime_error("first"); });
    bool called = false;
    const Event next = failed.then([&] { called = true; });
    EXPECT_NO_THROW(next.wait());
    EXPECT_TRUE(called);
    EXPECT_THROW(failed.wait(), std::runtime_error) << "the first wait for it rethrows its error";
}

VOLLEY_BACKEND_TEST(EventChain, AFunctionMayWaitForOtherFunctions) {
    const Event work = mark();
    std::string order;
    const Event outer = work.then([&] {
        work.then([&] { order += 'a'; }).then([&] { order += 'b'; }).wait();
        order += 'c';
    });
    outer.wait();
    EXPECT_EQ(order, "abc");
}

VOLLEY_BACKEND_TEST(EventChain, AHostCallMayWaitForAHostCallOnAnotherQueue) {
    Signal first, second;
    const Event waits = host_call(
        [&] {
            first.wait();
            second.raise();
        },
        queue(1));
    host_call([&] { first.raise(); }, queue(0));
    host_call([&] { second.wait(); }, queue(0)).wait();
    waits.wait();
}

VOLLEY_BACKEND_TEST(EventChain, FunctionsRunInTheContextOfTheirEvent) {
    Buffer<float> data = as_buffer(std::vector<float>(16, 1.0f));
    const Context mine = current_context();
    bool same = false;
    scale_by()(data, 2.0f).then([&] { scale_by()(data, 3.0f); }).wait();
    host_call([&] {
        scale_by()(data, 5.0f);
        same = current_context() == mine;
    }).wait();
    EXPECT_TRUE(same);
    EXPECT_EQ(data.read(0)[15], 30.0f);
}

VOLLEY_BACKEND_TEST(EventChain, WaitCompletesAllPartsBeforeItThrows) {
    Signal go;
    std::atomic<bool> done = false;
    Buffer<float> data(8);
    host_call([] { throw std::runtime_error("boom"); }, queue(0));
    host_call(
        [&] {
            go.wait();
            done = true;
        },
        queue(1));
    const Event filled = data.fill(1.0f);
    mark().then([&] {});  // delays no other work
    std::thread raiser([&] {
        std::this_thread::sleep_for(5ms);
        go.raise();
    });
    EXPECT_THROW(filled.wait(), std::runtime_error);
    EXPECT_TRUE(done);
    EXPECT_TRUE(filled.ready());
    raiser.join();
}

VOLLEY_BACKEND_TEST(EventChain, WaitForRespectsItsTimeout) {
    Signal go;
    const Event held = host_call([&] { go.wait(); });
    EXPECT_FALSE(held.wait_for(1ms));
    EXPECT_FALSE(held.wait_for(0s));
    EXPECT_FALSE(held.wait_for(-5s));
    EXPECT_FALSE(held.wait_for(std::chrono::nanoseconds::min()));
    EXPECT_FALSE(held.wait_for(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())));
    std::thread raiser([&] {
        std::this_thread::sleep_for(5ms);
        go.raise();
    });
    EXPECT_TRUE(held.wait_for(std::chrono::hours::max()));
    EXPECT_TRUE(held.wait_for(std::chrono::duration<double>(1e300)));
    raiser.join();
}

TEST(Signals, CallFollowingFunctionsWhenRaised) {
    Signal signal;
    std::string order;
    const Event done = signal.event().then([&] { order += 'a'; }).then([&] { order += 'b'; });
    EXPECT_EQ(order, "");
    EXPECT_FALSE(done.ready());
    signal.raise();
    done.wait();
    EXPECT_EQ(order, "ab");
    signal.event().then([&] { order += 'c'; }).wait();
    EXPECT_EQ(order, "abc") << "already raised";
}

VOLLEY_BACKEND_TEST(EventChain, ASignalDestroyedUnraisedReleasesItsWaiters) {
    Buffer<float> data = as_buffer(std::vector<float>(8, 1.0f));
    Event never;
    {
        const Signal lost;
        never = lost.event();
        queue(0).depends_on(lost.event());
        scale_by().on(queue(0))(data, 2.0f);
        EXPECT_FALSE(never.ready());
    }
    EXPECT_THROW(never.wait(), ArgumentError);
    EXPECT_EQ(data.read(0)[7], 2.0f);
}

}  // namespace
}  // namespace volley
