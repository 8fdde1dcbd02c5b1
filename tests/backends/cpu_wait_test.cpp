// Queues of the CPU that wait: for each other, for the host, and for functions. No thread that others need
// may be lost to a wait, so each test runs without workers, with one and with some.
#include "backends/cpu_support.hpp"
#include "runtime/host_point.hpp"
#include "support/allocations.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>

namespace volley::backends::cpu {
namespace {

using runtime::HostPoint;
using testing::Gate;
using testing::unless_sanitized;
using SteadyClock = std::chrono::steady_clock;
using namespace std::chrono_literals;

class CpuWaitTest : public ::testing::TestWithParam<unsigned> {
protected:
    std::unique_ptr<backends::Device> device = open_cpu({.cpu_threads = GetParam()});
    std::unique_ptr<backends::Queue> a = device->make_queue();
    std::unique_ptr<backends::Queue> b = device->make_queue();
    std::unique_ptr<backends::Queue> c = device->make_queue();
    std::unique_ptr<backends::Memory> word = device->allocate(sizeof(int));

    static void wait(backends::Queue& queue) { queue.timeline().wait(queue.last()); }
    static Point follow(backends::Queue& queue, backends::Queue& other) {
        return queue.wait_for(other.timeline(), other.last());
    }
    Point set(backends::Queue& queue, int value) {
        return fill_at(queue, *word, 0, sizeof value, std::as_bytes(std::span(&value, 1)));
    }
    int value() { return contents<int>(*word)[0]; }
};

INSTANTIATE_TEST_SUITE_P(Cpu, CpuWaitTest, ::testing::Values(1u, 2u, 3u), [](const auto& threads) {
    return "With" + std::to_string(threads.param) + (threads.param == 1 ? "Thread" : "Threads");
});

TEST_P(CpuWaitTest, AQueueBehindOneThatTheHostHoldsUpTakesNoThread) {
    HostPoint raised;
    a->wait_for(raised, 1);
    follow(*b, *a);
    set(*b, 7);
    std::this_thread::sleep_for(2ms);  // a worker that would wait does so by now
    c->call([&] { raised.pass(); });
    wait(*b);
    EXPECT_EQ(value(), 7);
}

// A lost notification shows only if no other thread looks: these tests look from outside, without a wait that
// would do the work, or from a thread that has fallen asleep. Without the notification they fail after
// seconds.
constexpr auto patience = 20s;

/// Returns whether the point passes without a thread that waits for it.
bool passes_by_itself(backends::Timeline& timeline, Point point) {
    const auto end = SteadyClock::now() + patience;
    while (timeline.completed() < point && SteadyClock::now() < end) std::this_thread::sleep_for(100us);
    return timeline.completed() >= point;
}

/// Returns whether a thread that waits for the queue's last point, and sleeps when `release` is called, wakes
/// up long before its time is over.
template <class F>
bool wakes_up(backends::Queue& queue, F&& release) {
    SteadyClock::duration waited{};
    std::thread waiter([&] {
        const auto begin = SteadyClock::now();
        EXPECT_TRUE(queue.timeline().wait_for(queue.last(), patience));
        waited = SteadyClock::now() - begin;
    });
    std::this_thread::sleep_for(3ms);  // longer than it spins
    release();
    waiter.join();
    return waited < patience / 2;
}

TEST_P(CpuWaitTest, AThreadThatSleepsIsWokenAfterACallback) {
    Gate gate;
    a->call([&] { gate.pass(); });
    EXPECT_TRUE(wakes_up(*a, [&] { gate.open(); }));
}

TEST_P(CpuWaitTest, AThreadThatSleepsIsWokenAfterAWait) {
    HostPoint raised;
    a->wait_for(raised, 1);
    set(*a, 5);
    EXPECT_TRUE(wakes_up(*a, [&] { raised.pass(); }));
    EXPECT_EQ(value(), 5);
    HostPoint again;
    a->wait_for(again, 1);
    follow(*b, *a);
    EXPECT_TRUE(wakes_up(*b, [&] { again.pass(); }));
}

TEST_P(CpuWaitTest, ALaterCallbackWakesTheQueuesThread) {
    std::atomic<int> called{0};
    for (int k = 1; k <= 3; ++k) {
        EXPECT_TRUE(passes_by_itself(a->timeline(), a->call([&] { ++called; })));
        EXPECT_EQ(called, k);
        std::this_thread::sleep_for(1ms);  // the thread sleeps
    }
}

TEST_P(CpuWaitTest, WorkAfterAWaitForAnotherQueueRunsByItself) {
    for (int k = 1; k <= 3; ++k) {
        HostPoint raised;
        a->wait_for(raised, 1);
        follow(*b, *a);
        const Point point = set(*b, k);
        std::this_thread::sleep_for(1ms);  // all threads sleep
        raised.pass();
        EXPECT_TRUE(passes_by_itself(b->timeline(), point));
        EXPECT_EQ(value(), k);
    }
}

TEST_P(CpuWaitTest, WorkAfterAPointThatAThreadWaitsForRunsByItself) {
    const auto large = device->allocate(8 << 20);
    for (int k = 1; k <= 10; ++k) {
        HostPoint raised;
        a->wait_for(raised, 1);
        follow(*b, *a);
        const int zero = 0;
        const Point first = fill_at(*b, *large, 0, 8 << 20, std::as_bytes(std::span(&zero, 1)));
        const Point second = set(*b, k);
        std::thread waiter([&] { b->timeline().wait(first); });
        std::this_thread::sleep_for(1ms);
        raised.pass();
        waiter.join();
        ASSERT_TRUE(passes_by_itself(b->timeline(), second));
        EXPECT_EQ(value(), k);
    }
}

TEST_P(CpuWaitTest, AChainOfQueuesWaitsForTheHost) {
    HostPoint raised;
    std::vector<std::unique_ptr<backends::Queue>> queues;
    for (int i = 0; i < 10; ++i) queues.push_back(device->make_queue());
    queues[0]->wait_for(raised, 1);
    for (std::size_t i = 1; i < queues.size(); ++i) follow(*queues[i], *queues[i - 1]);
    const Point done = set(*queues.back(), 7);
    EXPECT_FALSE(queues.back()->timeline().wait_for(done, 1ms));
    raised.pass();
    queues.back()->timeline().wait(done);
    EXPECT_EQ(value(), 7);
}

TEST_P(CpuWaitTest, AWaitForWhatHasPassedIsNoCommand) {
    set(*a, 1);
    wait(*a);
    EXPECT_EQ(b->wait_for(a->timeline(), a->last()), 0u);
    EXPECT_EQ(b->last(), 0u);
}

TEST_P(CpuWaitTest, QueuesThatWaitForEachOtherRunInOrder) {
    std::vector<int> order;
    const int rounds = unless_sanitized(3000, 300);
    for (int i = 0; i < rounds; ++i) {
        a->call([&order, i] { order.push_back(2 * i); });
        follow(*b, *a);
        b->call([&order, i] { order.push_back(2 * i + 1); });
        follow(*a, *b);
    }
    wait(*a);
    ASSERT_EQ(order.size(), 2 * static_cast<std::size_t>(rounds));
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(CpuWaitTest, ManyWaitsForWaitsEndAtOnce) {
    Gate gate;
    a->call([&] { gate.pass(); });
    for (int i = 0; i < 20'000; ++i) {  // more than a stack could hold
        follow(*b, *a);
        follow(*a, *b);
    }
    gate.open();
    wait(*a);
    EXPECT_EQ(b->timeline().completed(), b->last());
}

TEST_P(CpuWaitTest, WaitsForPointsInAnyOrder) {
    Gate gate;
    std::string seen;
    b->call([&] { gate.pass(); });
    const Point first = b->call([&] { seen += '1'; });
    const Point second = b->call([&] { seen += '2'; });
    const Point third = b->call([&] { seen += '3'; });
    a->wait_for(b->timeline(), third);
    c->wait_for(b->timeline(), first);
    a->wait_for(b->timeline(), second);
    Point last = a->call([&] { seen += 'a'; });
    gate.open();
    a->timeline().wait(last);
    EXPECT_EQ(seen, "123a");
    wait(*c);
}

TEST_P(CpuWaitTest, AThreadThatWaitsTakesNothingBehindItsPoint) {
    // Who runs b's wait while it waits for what that follows would never return.
    const std::size_t bytes = std::size_t{1} << 20;
    const auto memory = device->allocate(bytes);
    const std::byte pattern[] = {std::byte{1}};
    for (int i = 0; i < unless_sanitized(500, 50); ++i) {
        const Point first = fill_at(*b, *memory, 0, bytes, pattern);
        const Point after = a->wait_for(b->timeline(), first);
        b->wait_for(a->timeline(), after);
        Gate gate;
        const Point called = b->call([&] { gate.pass(); });
        b->timeline().wait(first);
        a->timeline().wait(after);
        gate.open();
        b->timeline().wait(called);
    }
}

TEST_P(CpuWaitTest, AFunctionThatWaitsRunsNoOtherBehindItsPoint) {
    const std::size_t bytes = std::size_t{1} << 20;
    const auto memory = device->allocate(bytes);
    const std::byte pattern[] = {std::byte{1}};
    std::atomic<std::thread::id> waiting;
    std::atomic<int> nested{0};
    for (int i = 0; i < unless_sanitized(500, 50); ++i) {
        const Point first = fill_at(*b, *memory, 0, bytes, pattern);
        a->call([&] {
            waiting = std::this_thread::get_id();
            b->timeline().wait(first);
            waiting = std::thread::id();
        });
        b->call([&] { nested += waiting.load() == std::this_thread::get_id() ? 1 : 0; });
        b->timeline().wait(first);
        wait(*a);
        wait(*b);
    }
    EXPECT_EQ(nested, 0);
}

TEST_P(CpuWaitTest, TakesManyCommandsBehindAnotherQueuesFunction) {
    Gate gate;
    b->call([&] { gate.pass(); });
    follow(*a, *b);
    for (int i = 0; i < 5000; ++i) set(*a, i);
    EXPECT_LT(a->timeline().completed(), a->last());
    gate.open();
    wait(*a);
    EXPECT_EQ(value(), 4999);
}

TEST_P(CpuWaitTest, ALargeWriteBehindTheHostReturns) {
    const std::size_t count = 1'000'000;
    HostPoint raised;
    a->wait_for(raised, 1);
    follow(*b, *a);
    const auto first = device->allocate(count * sizeof(int));
    const auto second = device->allocate(count * sizeof(int));
    std::vector<int> data = testing::counting(count);
    write_at(*a, *first, 0, bytes_of(data));
    write_at(*b, *second, 0, bytes_of(data));
    std::fill(data.begin(), data.end(), 0);
    raised.pass();
    EXPECT_EQ(testing::read_back(*a, *first, count), testing::counting(count));
    EXPECT_EQ(testing::read_back(*b, *second, count), testing::counting(count));
}

TEST_P(CpuWaitTest, ALargeWriteBehindAFunctionReturns) {
    const std::size_t count = 100'000;
    const auto memory = device->allocate(count * sizeof(int));
    Gate gate;
    a->call([&] { gate.pass(); });
    std::vector<int> data = testing::counting(count);
    write_at(*a, *memory, 0, bytes_of(data));
    std::fill(data.begin(), data.end(), 0);
    gate.open();
    EXPECT_EQ(testing::read_back(*a, *memory, count), testing::counting(count));
}

TEST_P(CpuWaitTest, FunctionsNeverRunInsideOfTheCallsThatGiveThem) {
    Gate gate;
    std::thread::id ran;
    const Point point = a->call([&] {
        gate.pass();
        ran = std::this_thread::get_id();
    });
    set(*a, 3);
    EXPECT_LT(a->timeline().completed(), point);
    gate.open();
    wait(*a);
    EXPECT_NE(ran, std::this_thread::get_id());
    EXPECT_EQ(value(), 3);
}

TEST_P(CpuWaitTest, WhatFollowsAFunctionNeedsNobodyToWait) {
    Gate gate;
    a->call([&] { gate.pass(); });
    follow(*b, *a);
    const Point point = set(*b, 3);
    gate.open();
    while (b->timeline().completed() < point) std::this_thread::yield();
    EXPECT_EQ(value(), 3);
}

TEST_P(CpuWaitTest, AnAwaitedQueueMayEndFirst) {
    for (int i = 0; i < unless_sanitized(300, 50); ++i) {
        Gate gate;
        auto other = device->make_queue();
        a->call([&] { gate.pass(); });
        for (int k = 0; k < 20; ++k) {
            other->call([] {});
            follow(*a, *other);
        }
        const Point point = set(*a, i);
        std::thread waiting([&] { a->timeline().wait(point); });
        gate.open();
        other.reset();
        waiting.join();
        EXPECT_EQ(value(), i);
    }
}

TEST_P(CpuWaitTest, ATimeoutEndsAmongManyCommands) {
    Gate gate;
    std::atomic<unsigned> busy{0};
    std::vector<std::unique_ptr<backends::Queue>> others;
    for (unsigned i = 1; i < GetParam(); ++i) {
        others.push_back(device->make_queue());
        others.back()->call([&] {
            ++busy;
            gate.pass();
        });
    }
    while (busy + 1 < GetParam()) std::this_thread::yield();  // only threads that wait are left
    const std::size_t bytes = std::size_t{1} << 20;
    const auto memory = device->allocate(bytes);
    const std::byte pattern[] = {std::byte{1}};
    HostPoint raised;
    a->wait_for(raised, 1);
    for (int i = 0; i < 4000; ++i) fill_at(*a, *memory, 0, bytes, pattern);  // some 100 ms
    raised.pass();
    EXPECT_FALSE(a->timeline().wait_for(a->last(), 5ms));
    gate.open();
    wait(*a);
}

TEST_P(CpuWaitTest, RandomWaitsAreKept) {
    for (unsigned seed = 0; seed < unless_sanitized(30u, 6u); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        std::mt19937 random(seed);
        constexpr std::size_t count = 4;
        std::vector<std::unique_ptr<backends::Queue>> queues;
        for (std::size_t q = 0; q < count; ++q) queues.push_back(device->make_queue());
        std::array<std::atomic<int>, count> reached{};  // by functions of each queue
        std::array<int, count> given{};
        std::array<std::array<int, count>, count> known{};  // what queue q follows of the others
        std::atomic<int> early{0};
        HostPoint raised;
        std::vector<std::unique_ptr<backends::Memory>> large;
        for (std::size_t q = 0; q < count; ++q) large.push_back(device->allocate(std::size_t{1} << 19));
        const std::byte pattern[] = {std::byte{1}};
        const auto held = random() % count;
        queues[held]->wait_for(raised, 1);
        const auto raise_at = random() % 400;
        std::vector<std::thread> waiting;
        for (std::size_t i = 0; i < 400; ++i) {
            if (i == raise_at) raised.pass();
            const std::size_t q = random() % count;
            backends::Queue& queue = *queues[q];
            switch (random() % 5) {
                case 0:
                case 1: {
                    const std::size_t other = random() % count;
                    follow(queue, *queues[other]);
                    known[q][other] = given[other];
                    for (std::size_t k = 0; k < count; ++k)
                        known[q][k] = std::max(known[q][k], known[other][k]);
                    break;
                }
                case 2: fill_at(queue, *large[q], 0, large[q]->size(), pattern); break;
                case 3:
                    if (waiting.size() < 3 && random() % 8 == 0) {
                        waiting.emplace_back(
                            [&queue, point = queue.last()] { queue.timeline().wait(point); });
                    }
                    break;
                default:
                    queue.call([&, q, mine = ++given[q], all = known[q]] {
                        for (std::size_t k = 0; k < count; ++k)
                            if (k != q && reached[k] < all[k]) ++early;
                        reached[q] = mine;
                    });
            }
        }
        raised.pass();
        for (std::thread& thread : waiting) thread.join();
        for (const auto& queue : queues) wait(*queue);
        EXPECT_EQ(early, 0);
        for (std::size_t q = 0; q < count; ++q) EXPECT_EQ(reached[q], given[q]);
    }
}

#ifndef VOLLEY_SANITIZED
TEST_P(CpuWaitTest, WaitingAllocatesNothing) {
    const auto round = [&] {
        Gate gate;  // so that as many wait at a time in every round
        a->call([&] { gate.pass(); });
        for (int i = 0; i < 50; ++i) {
            follow(*b, *a);
            set(*b, i);
            follow(*a, *b);
            set(*a, i);
        }
        gate.open();
        wait(*a);
        wait(*b);
    };
    EXPECT_EQ(testing::allocations_when_repeated(round), 0u);
}
#endif

}  // namespace
}  // namespace volley::backends::cpu
