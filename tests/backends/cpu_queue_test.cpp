// The CPU's queue: order, helping, errors, many threads.
#include "backends/cpu/cpu_command.hpp"
#include "backends/cpu_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace volley::backends::cpu {
namespace {

using testing::Gate;
using namespace std::chrono_literals;

class CpuQueueTest : public ::testing::Test {
protected:
    std::unique_ptr<backends::Device> device = open_cpu({.cpu_threads = 2});
    std::unique_ptr<backends::Queue> queue = device->make_queue();

    void wait() { queue->timeline().wait(queue->last()); }
};

TEST_F(CpuQueueTest, GivesOutPointsInOrder) {
    EXPECT_EQ(queue->last(), 0u);
    const auto memory = device->allocate(64);
    const std::vector<int> data(16, 1);
    EXPECT_EQ(write_at(*queue, *memory, 0, bytes_of(data)), 1u);
    EXPECT_EQ(queue->call([] {}), 2u);
    EXPECT_EQ(queue->last(), 2u);
    wait();
    EXPECT_EQ(queue->timeline().completed(), 2u);
}

TEST_F(CpuQueueTest, MovesBytesOfAnySize) {
    for (const std::size_t count : {0u, 1u, 1000u, 100'000u, 3'000'001u}) {
        std::vector<int> data(count);
        std::iota(data.begin(), data.end(), 7);
        const auto a = device->allocate(count * sizeof(int));
        const auto b = device->allocate(count * sizeof(int));
        write_at(*queue, *a, 0, bytes_of(data));
        copy_at(*queue, *b, 0, *a, 0, count * sizeof(int));
        std::vector<int> back(count);
        read_at(*queue, *b, 0, std::as_writable_bytes(std::span(back)));
        wait();
        EXPECT_EQ(back, data) << count;
    }
}

TEST_F(CpuQueueTest, MovesALargeArrayAroundTheCaches) {
    const std::size_t count = (std::size_t{20} << 20) / sizeof(int) + 3;
    std::vector<int> data(count);
    std::iota(data.begin(), data.end(), 0);
    const auto memory = device->allocate(count * sizeof(int) + 4);
    write_at(*queue, *memory, 4, bytes_of(data));  // misaligned on purpose
    std::vector<int> back(count);
    read_at(*queue, *memory, 4, std::as_writable_bytes(std::span(back)));
    wait();
    EXPECT_EQ(back, data);
}

TEST_F(CpuQueueTest, FillsWithPatternsOfAnySize) {
    for (const std::size_t pattern_size : {1u, 3u, 4u, 12u, 64u, 1000u}) {
        for (const std::size_t repeats : {1u, 5u, 20'000u}) {
            std::vector<std::byte> pattern(pattern_size);
            for (std::size_t i = 0; i < pattern_size; ++i) pattern[i] = static_cast<std::byte>(i + 1);
            const auto memory = device->allocate(pattern_size * repeats);
            fill_at(*queue, *memory, 0, pattern_size * repeats, pattern);
            wait();
            for (std::size_t i = 0; i < repeats; ++i) {
                ASSERT_EQ(std::memcmp(memory->host() + i * pattern_size, pattern.data(), pattern_size), 0)
                    << i;
            }
        }
    }
}

TEST_F(CpuQueueTest, RunsCallbacksAfterEarlierAndBeforeLaterWork) {
    std::string order;
    for (int i = 0; i < 100; ++i) queue->call([&order, i] { order += static_cast<char>('a' + i % 26); });
    wait();
    ASSERT_EQ(order.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], 'a' + i % 26);
}

TEST_F(CpuQueueTest, HoldsLaterCommandsBackUntilEarlierOnesAreDone) {
    Gate gate;
    queue->call([&] { gate.pass(); });
    const auto memory = device->allocate(4);
    contents<int>(*memory)[0] = 1;
    const std::vector<int> two = {2};
    const Point point = write_at(*queue, *memory, 0, bytes_of(two));
    EXPECT_EQ(contents<int>(*memory)[0], 1);
    EXPECT_FALSE(queue->timeline().wait_for(point, 1ms));
    gate.open();
    queue->timeline().wait(point);
    EXPECT_EQ(contents<int>(*memory)[0], 2);
}

TEST_F(CpuQueueTest, CopiesSmallHostDataBeforeAWriteReturns) {
    Gate gate;
    queue->call([&] { gate.pass(); });
    const auto memory = device->allocate(4000);
    std::vector<int> data(1000, 5);
    write_at(*queue, *memory, 0, bytes_of(data));
    std::fill(data.begin(), data.end(), 6);
    gate.open();
    wait();
    EXPECT_EQ(contents<int>(*memory)[999], 5);
}

TEST_F(CpuQueueTest, ReportsACallbacksExceptionOnceAtTheWait) {
    int later = 0;
    const Point before = queue->call([] {});
    const Point bad = queue->call([] { throw std::runtime_error("from the callback"); });
    const Point after = queue->call([&] { later = 1; });
    EXPECT_NO_THROW(queue->timeline().wait(before));
    EXPECT_TRUE(queue->timeline().wait_for(after, 10s)) << "a timed wait keeps errors";
    EXPECT_THROW(queue->timeline().wait(after), std::runtime_error);
    EXPECT_NO_THROW(queue->timeline().wait(bad));
    EXPECT_EQ(later, 1) << "the queue goes on";
}

TEST_F(CpuQueueTest, LetsACallbackSubmitToItsOwnQueue) {
    std::atomic<int> count{0};
    queue->call([&] {
        for (int i = 0; i < 10'000; ++i) queue->call([&] { ++count; });
    });
    wait();
    wait();  // the first wait was for what was known before
    EXPECT_EQ(count, 10'000);
}

TEST_F(CpuQueueTest, WaitsForAnotherQueue) {
    const auto other = device->make_queue();
    Gate gate;
    int seen = 0;
    int value = 0;
    const Point set = other->call([&] {
        gate.pass();
        value = 42;
    });
    queue->wait_for(other->timeline(), set);
    queue->call([&] { seen = value; });
    gate.open();
    wait();
    EXPECT_EQ(seen, 42);
}

TEST_F(CpuQueueTest, QueuesThatWaitForEachOtherInTurnMakeProgress) {
    const auto other = device->make_queue();
    std::vector<int> order;
    for (int i = 0; i < 200; ++i) {
        const Point a = queue->call([&order, i] { order.push_back(2 * i); });
        other->wait_for(queue->timeline(), a);
        const Point b = other->call([&order, i] { order.push_back(2 * i + 1); });
        queue->wait_for(other->timeline(), b);
    }
    wait();
    ASSERT_EQ(order.size(), 400u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_F(CpuQueueTest, TakesManyCommandsWithoutAWait) {
    const auto memory = device->allocate(4);
    contents<int>(*memory)[0] = -1;
    Gate gate;
    queue->call([&] { gate.pass(); });
    std::thread opener([&] {
        std::this_thread::sleep_for(20ms);
        gate.open();
    });
    for (int i = 0; i < 20'000; ++i) write_at(*queue, *memory, 0, std::as_bytes(std::span(&i, 1)));
    wait();
    opener.join();
    EXPECT_EQ(contents<int>(*memory)[0], 19'999);
}

TEST_F(CpuQueueTest, TakesCommandsFromSeveralThreads) {
    std::atomic<int> count{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            const auto memory = device->allocate(std::size_t{1} << 20);
            const std::byte pattern[] = {std::byte{1}};
            for (int i = 0; i < 500; ++i) {
                queue->call([&] { ++count; });
                if (i % 50 == 0) fill_at(*queue, *memory, 0, memory->size(), pattern);
                if (i % 10 == 0) queue->timeline().wait(queue->last());
            }
            queue->timeline().wait(queue->last());
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(count, 2000);
    EXPECT_EQ(queue->timeline().completed(), queue->last());
}

TEST_F(CpuQueueTest, FinishesItsWorkBeforeItIsDestroyed) {
    std::atomic<bool> ran{false};
    queue->call([&] {
        std::this_thread::sleep_for(10ms);
        ran = true;
    });
    queue.reset();
    EXPECT_TRUE(ran);
}

TEST(CpuQueueAlone, RunsCommandsAndFunctionsWithOneThread) {
    const auto device = open_cpu({.cpu_threads = 1});
    const auto queue = device->make_queue();
    const auto memory = device->allocate(std::size_t{256} << 20);
    const std::byte pattern[] = {std::byte{9}};
    for (const std::size_t size : {std::size_t{64}, std::size_t{8} << 20, memory->size()}) {
        queue->timeline().wait(fill_at(*queue, *memory, 0, size, pattern));
        EXPECT_EQ(contents<std::byte>(*memory)[size - 1], std::byte{9});
    }
    int ran = 0;
    queue->call([&] {
        ran = 1;
        queue->call([&] { ran = 2; });
    });
    queue->timeline().wait(queue->last());
    queue->timeline().wait(queue->last());  // the first wait may have been for what was known before
    EXPECT_EQ(ran, 2);
}

TEST(CpuQueueAlone, MakesAndEndsManyQueues) {
    const auto device = open_cpu({.cpu_threads = 3});
    for (int i = 0; i < 200; ++i) {
        const auto a = device->make_queue();
        const auto b = device->make_queue();
        std::atomic<int> count{0};
        a->call([&] { ++count; });
        b->call([&] { ++count; });
        a->timeline().wait(1);
        b->timeline().wait(1);
        EXPECT_EQ(count, 2);
    }
}

/// Each piece of a transfer, as bytes that it covers; together they are all of them, once.
void expect_whole(Transfer transfer, std::uint64_t pieces, std::uint32_t at_least) {
    const backends::Rect& rect = transfer.move.rect;
    const std::uint32_t count = cut(transfer, pieces);
    EXPECT_GE(count, at_least);
    EXPECT_LE(count, 4 * pieces);
    std::vector<std::byte> to(rect.bytes(), std::byte{0});
    const std::vector<std::byte> from(rect.bytes(), std::byte{1});
    transfer.to = to.data();
    transfer.from = from.data();
    transfer.move.to = transfer.move.from = backends::dense(rect);
    std::uint64_t covered = 0;
    for (std::uint32_t piece = 0; piece < count; ++piece) {
        run_copy(transfer, piece);
        const auto now = static_cast<std::uint64_t>(std::count(to.begin(), to.end(), std::byte{1}));
        EXPECT_GT(now, covered) << "piece " << piece << " of " << count << " covers nothing of its own";
        covered = now;
    }
    EXPECT_EQ(covered, rect.bytes());
}

TEST(CpuPieces, OfRowsAreRowsPlanesOrPartsOfARow) {
    const auto rows = [](std::uint64_t row, std::uint64_t count, std::uint64_t planes) {
        Transfer transfer;
        transfer.move.rect = {row, {count, planes}};
        return transfer;
    };
    expect_whole(rows(400'000, 1, 1), 8, 8);
    expect_whole(rows(100'000, 3, 1), 8, 6);
    expect_whole(rows(4, 30'000, 1), 8, 8);
    expect_whole(rows(40, 1000, 3), 8, 8);
    expect_whole(rows(40, 3, 1000), 8, 8);
    expect_whole(rows(10, 1, 1), 8, 1);
    expect_whole(rows(1, 3, 1), 8, 3);
}

TEST(CpuPieces, OfAFillAreWholePatterns) {
    Transfer transfer;
    transfer.move.rect = {4096 * 12 * 100, {1, 1}};
    transfer.pattern = 12;
    const std::uint32_t count = cut(transfer, 8);
    EXPECT_GE(count, 8u);
    EXPECT_EQ(transfer.most.row % 12, 0u);
    EXPECT_EQ(transfer.most.row % 4096, 0u);
}

}  // namespace
}  // namespace volley::backends::cpu
