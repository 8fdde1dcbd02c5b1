// The reference device's queue: what runs in its caller, what the queue's thread runs, and what the caller
// may do meanwhile.
#include "backends/batch_support.hpp"
#include "backends/held_kernel.hpp"
#include "backends/queue_support.hpp"
#include "backends/reference/reference_device.hpp"

#include <volley/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace volley::testing {
namespace {

using backends::Point;
using namespace std::chrono_literals;

/// A timeline whose one point passes when the test says so.
class Flag final : public backends::Timeline {
public:
    [[nodiscard]] Point completed() const noexcept override { return raised_.load(); }
    void wait(Point /*point*/) override { throw std::logic_error("its errors are for others"); }
    bool wait_for(Point point, std::chrono::nanoseconds timeout) override {
        std::unique_lock lock(mutex_);
        return progress_.wait_for(lock, timeout, [&] { return completed() >= point; });
    }
    void raise() {
        const std::scoped_lock lock(mutex_);
        raised_ = 1;
        progress_.notify_all();
    }

private:
    std::atomic<Point> raised_{0};
    std::mutex mutex_;
    std::condition_variable progress_;
};

class ReferenceQueueTest : public ::testing::Test {
protected:
    std::unique_ptr<backends::Memory> ints(const std::vector<int>& values) {
        auto memory = device.allocate(values.size() * sizeof(int));
        write_at(*queue, *memory, 0, bytes_of(values));
        return memory;
    }
    Point hold(Gate& gate) {
        return queue->call([&] { gate.pass(); });
    }
    /// Fails: its grid has one invocation more than the buffer has elements.
    Point launch_beyond(backends::Memory& memory) {
        const int factor = 1;
        const backends::Argument args[] = {buffer_argument(memory, memory.size() / sizeof(int)),
                                           value_argument(factor)};
        const auto count = static_cast<std::uint32_t>(memory.size() / sizeof(int) + 1);
        return queue->launch({program.get(), {count, 1, 1}, {1, 1, 1}, args});
    }
    void wait() { queue->timeline().wait(queue->last()); }
    [[nodiscard]] bool is_idle() const { return queue->timeline().completed() == queue->last(); }

    backends::reference::ReferenceDevice device;
    std::unique_ptr<backends::Program> program = device.compile(multiply_add_kernel());
    std::unique_ptr<backends::Queue> queue = device.make_queue();
};

TEST_F(ReferenceQueueTest, ACommandHasRunWhenItsCallReturns) {
    const auto memory = ints({1});
    EXPECT_TRUE(is_idle());
    launch_multiply_add(*queue, *program, *memory, 3, 1);
    EXPECT_TRUE(is_idle());
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 3);
}

TEST_F(ReferenceQueueTest, AKernelThatMayTakeLongHoldsUpNeitherItsCallNorATimedWait) {
    HeldKernel held(device, 50'000'000);
    const Point point = held.launch(*queue);
    EXPECT_LT(queue->timeline().completed(), point);
    const auto memory = device.allocate(sizeof(int));
    const std::vector<int> data = {5};
    write_at(*queue, *memory, 0, bytes_of(data));
    const Point last = launch_multiply_add(*queue, *program, *memory, 3, 1);
    EXPECT_FALSE(queue->timeline().wait_for(last, 20ms));
    held.release();
    EXPECT_TRUE(queue->timeline().wait_for(last, 60s));
    EXPECT_EQ(held.released(), 1);
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 15);
}

TEST_F(ReferenceQueueTest, ACallbackRunsOnAThreadOfTheQueues) {
    std::thread::id first, second;
    queue->call([&] { first = std::this_thread::get_id(); });
    queue->call([&] { second = std::this_thread::get_id(); });
    wait();
    EXPECT_NE(first, std::thread::id());
    EXPECT_NE(first, std::this_thread::get_id());
    EXPECT_EQ(first, second);
}

TEST_F(ReferenceQueueTest, ACallbackMayNeedWhatItsCallerHolds) {
    std::mutex mutex;
    int calls = 0;
    {
        const std::scoped_lock lock(mutex);
        queue->call([&] {
            const std::scoped_lock inner(mutex);
            ++calls;
        });
    }
    wait();
    EXPECT_EQ(calls, 1);
}

TEST_F(ReferenceQueueTest, CommandsBehindACallbackRunInOrderWithWhatTheyWereGiven) {
    const auto a = ints({1, 1, 1, 1});
    const auto b = ints(std::vector<int>(16, 0));
    Gate gate;
    const Point first = hold(gate);

    std::vector<int> data = {1, 2, 3, 4};
    write_at(*queue, *a, 0, bytes_of(data));
    std::vector<int> written(4);
    read_at(*queue, *a, 0, std::as_writable_bytes(std::span(written)));
    launch_multiply_add(*queue, *program, *a, 10, 4);  // its factor ends with the call
    copy_at(*queue, *b, 0, *a, 0, 16);
    queue->mark();
    fill_at(*queue, *a, 0, 16, bytes_of(data).first(4));
    copy_at(*queue, *b, 16, *a, 0, 8);
    // The first and the third of data; gaps of 4 bytes.
    queue->write(*b, reinterpret_cast<const std::byte*>(data.data()),
                 {{4, {2, 1}}, {32, {8, 0}}, {0, {8, 0}}});
    queue->fill(*b, {48, {8, 0}}, {4, {2, 1}}, bytes_of(data).subspan(12, 4));
    queue->copy(*b, *b, {{4, {2, 1}}, {52, {8, 0}}, {32, {8, 0}}});
    std::vector<int> columns(4, -1);
    queue->read(reinterpret_cast<std::byte*>(columns.data()), *b, {{4, {2, 1}}, {0, {8, 0}}, {0, {32, 0}}});
    std::vector<int> back(16);
    const Point last = read_at(*queue, *b, 0, std::as_writable_bytes(std::span(back)));
    std::fill(data.begin(), data.end(), -7);  // theirs to keep

    EXPECT_EQ(last, first + 12) << "points are issued at once";
    EXPECT_LT(queue->timeline().completed(), first);
    EXPECT_EQ(*reinterpret_cast<const int*>(a->host()), 1) << "nothing has run";
    gate.open();
    queue->timeline().wait(last);
    EXPECT_EQ(written, (std::vector<int>{1, 2, 3, 4}));
    EXPECT_EQ(columns, (std::vector<int>{10, -1, 1, -1}));
    EXPECT_EQ(back, (std::vector<int>{10, 21, 32, 43, 1, 1, 0, 0, 1, 0, 3, 0, 4, 1, 4, 3}));
}

TEST_F(ReferenceQueueTest, ABatchBehindACallbackKeepsItsValues) {
    const auto memory = ints({1, 1});
    PlanMaker maker;
    maker.add_in_line(multiply_add_command(*program, *memory, 2, dynamic_argument(0)));
    const auto batch = queue->prepare(maker.finish(16));
    Gate gate;
    hold(gate);
    std::vector<int> values = {2, 0, 0, 0, 3, 0, 0, 0};
    queue->submit(*batch, 2, bytes_of(values));
    std::fill(values.begin(), values.end(), -1);
    gate.open();
    EXPECT_EQ(read_back(*queue, *memory, 2), (std::vector<int>{6, 10}));
}

TEST_F(ReferenceQueueTest, CommandsRunInTheirCallersAgainWhenNothingIsPending) {
    const auto memory = ints({1});
    queue->timeline().wait(queue->call([] {}));
    launch_multiply_add(*queue, *program, *memory, 5, 1);
    EXPECT_TRUE(is_idle());
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 5);
}

TEST_F(ReferenceQueueTest, AWaitForWhatHasNotHappenedDoesNotHoldItsCaller) {
    const auto memory = ints({1});
    Flag flag;
    queue->wait_for(flag, 1);
    const Point point = launch_multiply_add(*queue, *program, *memory, 5, 1);
    EXPECT_FALSE(queue->timeline().wait_for(point, 2ms));
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 1);
    flag.raise();
    queue->timeline().wait(point);
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 5);
}

TEST_F(ReferenceQueueTest, AWaitForWhatHasHappenedOrForItselfIsNothing) {
    Gate gate;
    const Point point = hold(gate);
    Flag flag;
    flag.raise();
    EXPECT_EQ(queue->wait_for(flag, 1), point);
    EXPECT_EQ(queue->wait_for(queue->timeline(), point), point);
    gate.open();
    wait();
}

TEST_F(ReferenceQueueTest, QueuesThatWaitForEachOtherInTurnMakeProgress) {
    const auto other = device.make_queue();
    std::vector<int> order;
    for (int i = 0; i < 100; ++i) {
        const Point a = queue->call([&order, i] { order.push_back(2 * i); });
        other->wait_for(queue->timeline(), a);
        const Point b = other->call([&order, i] { order.push_back(2 * i + 1); });
        queue->wait_for(other->timeline(), b);
    }
    wait();
    EXPECT_EQ(order, counting(200));
}

TEST_F(ReferenceQueueTest, ErrorsKeepTheirPoints) {
    const auto memory = ints({1});
    Gate gate;
    const Point before = hold(gate);
    queue->call([] { throw std::runtime_error("of the callback"); });
    const Point between = queue->mark();
    const Point beyond = launch_beyond(*memory);
    const Point after = launch_multiply_add(*queue, *program, *memory, 5, 1);
    gate.open();
    EXPECT_TRUE(queue->timeline().wait_for(after, 10s)) << "a timed wait keeps errors";
    EXPECT_NO_THROW(queue->timeline().wait(before));
    EXPECT_THROW(queue->timeline().wait(between), std::runtime_error);
    EXPECT_NO_THROW(queue->timeline().wait(between)) << "once";
    EXPECT_THROW(queue->timeline().wait(beyond), Error);
    EXPECT_NO_THROW(queue->timeline().wait(after));
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 5) << "the queue goes on";
}

TEST_F(ReferenceQueueTest, ErrorsThatNobodyHasSeenAreToldOldestFirst) {
    for (const char* name : {"first", "second"}) queue->call([name] { throw std::runtime_error(name); });
    for (const std::string name : {"first", "second"}) {
        try {
            wait();
            ADD_FAILURE() << name;
        } catch (const std::runtime_error& error) {
            EXPECT_EQ(error.what(), name);
        }
    }
    EXPECT_NO_THROW(wait());
}

TEST_F(ReferenceQueueTest, AnErrorElsewhereIsNotOfTheQueueThatWaitsForIt) {
    const auto other = device.make_queue();
    Gate gate;
    const Point bad = other->call([&] {
        gate.pass();
        throw std::runtime_error("of another queue");
    });
    const Point point = queue->wait_for(other->timeline(), bad);
    gate.open();
    EXPECT_NO_THROW(queue->timeline().wait(point));
    EXPECT_THROW(other->timeline().wait(bad), std::runtime_error);
}

TEST_F(ReferenceQueueTest, ACallbackMayGiveCommandsToItsQueue) {
    const auto memory = ints({1});
    Gate gate;
    std::vector<int> seen;
    queue->call([&] {
        gate.pass();
        launch_multiply_add(*queue, *program, *memory, 3, 1);
        queue->call([&] { seen.push_back(*reinterpret_cast<const int*>(memory->host())); });
    });
    write_at(*queue, *memory, 0, bytes_of({5}));
    gate.open();
    wait();
    wait();  // the first was for what was known before
    EXPECT_EQ(seen, std::vector<int>{15}) << "after the commands submitted before";
}

TEST_F(ReferenceQueueTest, WhatACallbackHoldsEndsBeforeItsPointPasses) {
    auto held = std::make_shared<int>(1);
    const std::weak_ptr<int> watched = held;
    const Point point = queue->call([held = std::move(held)] {});
    while (queue->timeline().completed() < point) std::this_thread::yield();
    EXPECT_TRUE(watched.expired());
}

TEST_F(ReferenceQueueTest, EndsWithItsWorkDone) {
    const auto memory = ints({1});
    Gate gate;
    hold(gate);
    for (int i = 0; i < 3; ++i) launch_multiply_add(*queue, *program, *memory, 2, 1);
    bool called = false;
    queue->call([&] { called = true; });
    std::thread opener([&] { gate.open(); });
    queue.reset();
    opener.join();
    EXPECT_TRUE(called);
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 8);
}

TEST_F(ReferenceQueueTest, TakesCommandsAndCallbacksFromSeveralThreads) {
    const auto memory = ints(std::vector<int>(4 * 64, 0));
    int calls = 0;  // callbacks run one after the other
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int k = 0; k < 100; ++k) {
                const Point point = launch_multiply_add(*queue, *program, *memory, 1, 64, t * 256);
                if (k % 7 == 0) queue->timeline().wait(point);
                if (k % 5 == 0) queue->call([&] { ++calls; });
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const std::vector<int> result = read_back(*queue, *memory, std::size_t{4} * 64);
    for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], 100 * static_cast<int>(i % 64));
    EXPECT_EQ(calls, 80);
}

}  // namespace
}  // namespace volley::testing
