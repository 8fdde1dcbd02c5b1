// The queue of a device that works on its own: launches, transfers, callbacks, order, errors, many threads.
// Each test runs on every such driver, and those of transfers also as if the host could not address the
// device's memory.
#include "backends/queue_support.hpp"
#include "backends/subjects.hpp"
#include "support/sanitized.hpp"
#include "support/validation.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace volley::testing {
namespace {

using backends::Point;
using namespace std::chrono_literals;

class QueueTest : public SubjectTest {};
VOLLEY_SUBJECT_SUITE(QueueTest);
VOLLEY_EXPECT_NO_VALIDATION_MESSAGES();

TEST_P(QueueTest, RunsAKernel) {
    const auto program = GetParam().multiply_add(*device);
    const auto memory = device->allocate(1000 * sizeof(int));
    write_at(*queue, *memory, 0, bytes_of(counting(1000)));
    launch_multiply_add(*queue, *program, *memory, 3, 1000);
    const std::vector<int> result = read_back(*queue, *memory, 1000);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(result[static_cast<std::size_t>(i)], 4 * i);
}

TEST_P(QueueTest, RunsManyLaunchesInOrder) {
    const auto program = GetParam().multiply_add(*device);
    const auto memory = device->allocate(256 * sizeof(int));
    write_at(*queue, *memory, 0, bytes_of(std::vector<int>(256, 1)));
    unsigned expected = 1;
    for (int k = 0; k < 1500; ++k) {
        launch_multiply_add(*queue, *program, *memory, 3, 256);
        expected = expected * 3 + 255;
    }
    EXPECT_EQ(static_cast<unsigned>(read_back(*queue, *memory, 256)[255]), expected);
    EXPECT_EQ(queue->timeline().completed(), queue->last());
}

TEST_P(QueueTest, StartsAtABuffersOffset) {
    const auto program = GetParam().multiply_add(*device);
    const auto memory = device->allocate(1000 * sizeof(int));
    write_at(*queue, *memory, 0, bytes_of(std::vector<int>(1000, 1)));
    launch_multiply_add(*queue, *program, *memory, 2, 100, 500 * sizeof(int));
    const std::vector<int> result = read_back(*queue, *memory, 1000);
    EXPECT_EQ(result[499], 1);
    EXPECT_EQ(result[500], 2);
    EXPECT_EQ(result[599], 101);
    EXPECT_EQ(result[600], 1);
}

TEST_P(QueueTest, MovesBytesOfAnySizeToAnyOffset) {
    for (const bool mapped : {true, false}) {
        use(mapped);
        for (const std::size_t size :
             {0u, 1u, 3u, 1000u, 12288u, 12289u, 100'001u, unless_sanitized(3'000'007u, 300'007u)}) {
            std::vector<std::byte> data(size);
            for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 7 + 1);
            const auto a = device->allocate(size + 5);
            const auto b = device->allocate(size + 9);
            write_at(*queue, *a, 5, data);
            copy_at(*queue, *b, 9, *a, 5, size);
            std::vector<std::byte> back(size);
            queue->timeline().wait(read_at(*queue, *b, 9, back));
            EXPECT_EQ(back, data) << size << (mapped ? "" : " through staging");
        }
    }
}

TEST_P(QueueTest, CopiesHostMemoryInItsOrder) {
    ASSERT_TRUE(queue->copies_from_host());
    const auto program = GetParam().multiply_add(*device);
    const auto memory = device->allocate(1000 * sizeof(int));
    if (memory->host() == nullptr) GTEST_SKIP() << "the host cannot address the device's memory";
    for (const bool held : {false, true}) {
        std::vector<int> from = counting(100, 7);
        write_at(*queue, *memory, 0, bytes_of(std::vector<int>(1000, 1)));
        Gate gate;
        if (held) queue->call([&] { gate.pass(); });
        launch_multiply_add(*queue, *program, *memory, 5, 1000);
        queue->copy_from_host(*memory, std::as_bytes(std::span(from)).data(),
                              backends::RectMove::contiguous(400, 0, 400));
        launch_multiply_add(*queue, *program, *memory, 3, 1000);
        if (held) std::iota(from.begin(), from.end(), 9);
        gate.open();
        const std::vector<int> result = read_back(*queue, *memory, 1000);
        EXPECT_EQ(result[99], (5 + 99) * 3 + 99);
        EXPECT_EQ(result[100], (held ? 9 : 7) * 3 + 100);
        EXPECT_EQ(result[199], (held ? 108 : 106) * 3 + 199);
        EXPECT_EQ(result[200], (5 + 200) * 3 + 200);
    }
}

TEST_P(QueueTest, MovesBytesBehindWorkThatIsUnderWay) {
    for (const bool mapped : {true, false}) {
        use(mapped);
        const auto program = GetParam().multiply_add(*device);
        const std::size_t count = 50'000;
        const auto memory = device->allocate(count * sizeof(int));
        write_at(*queue, *memory, 0, bytes_of(std::vector<int>(count, 0)));
        std::vector<std::vector<int>> seen(20, std::vector<int>(count));
        for (std::size_t k = 0; k < seen.size(); ++k) {
            launch_multiply_add(*queue, *program, *memory, 1, count);  // adds i
            read_at(*queue, *memory, 0, std::as_writable_bytes(std::span(seen[k])));
            const std::vector<int> zero = {static_cast<int>(k)};
            write_at(*queue, *memory, 0, bytes_of(zero));  // the first element, where adding changes nothing
        }
        wait();
        for (std::size_t k = 0; k < seen.size(); ++k) {
            EXPECT_EQ(seen[k][0], k == 0 ? 0 : static_cast<int>(k) - 1);
            EXPECT_EQ(seen[k][count - 1], static_cast<int>((k + 1) * (count - 1)));
        }
    }
}

TEST_P(QueueTest, FillsWithPatternsOfAnySize) {
    for (const bool mapped : {true, false}) {
        use(mapped);
        for (const std::size_t pattern_size : {1u, 2u, 3u, 4u, 8u, 12u, 64u, 1000u, 70'000u}) {
            for (const std::size_t bytes : {pattern_size, 5 * pattern_size, 700 * pattern_size}) {
                if (bytes > unless_sanitized(1'500'000u, 150'000u)) continue;
                std::vector<std::byte> pattern(pattern_size);
                for (std::size_t i = 0; i < pattern_size; ++i)
                    pattern[i] = static_cast<std::byte>(i % 251 + 1);
                for (const std::size_t offset : {0u, 4u, 1u}) {
                    const auto memory = device->allocate(bytes + 8);
                    fill_at(*queue, *memory, 0, bytes + 8, std::vector<std::byte>(1));
                    fill_at(*queue, *memory, offset, bytes, pattern);
                    std::vector<std::byte> back(bytes + 8);
                    queue->timeline().wait(read_at(*queue, *memory, 0, back));
                    bool same = true;
                    for (std::size_t i = 0; i < back.size(); ++i) {
                        const bool inside = i >= offset && i < offset + bytes;
                        same =
                            same && back[i] == (inside ? pattern[(i - offset) % pattern_size] : std::byte{0});
                    }
                    ASSERT_TRUE(same) << pattern_size << " " << bytes << " " << offset;
                }
            }
        }
    }
}

TEST_P(QueueTest, FillsPartOfAPatternAtTheEnd) {
    use(false);
    const auto memory = device->allocate(100);
    const std::vector<std::byte> pattern = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
    fill_at(*queue, *memory, 0, 100, std::vector<std::byte>(1));
    fill_at(*queue, *memory, 0, 99, pattern);
    std::vector<std::byte> back(100);
    queue->timeline().wait(read_at(*queue, *memory, 0, back));
    EXPECT_EQ(back[96], std::byte{1});
    EXPECT_EQ(back[98], std::byte{3});
    EXPECT_EQ(back[99], std::byte{0});
}

TEST_P(QueueTest, DoesNothingForZeroBytes) {
    const auto memory = device->allocate(0);
    EXPECT_EQ(memory->size(), 0u);
    const std::vector<std::byte> pattern(4);
    EXPECT_EQ(write_at(*queue, *memory, 0, {}), 0u);
    EXPECT_EQ(read_at(*queue, *memory, 0, {}), 0u);
    EXPECT_EQ(copy_at(*queue, *memory, 0, *memory, 0, 0), 0u);
    EXPECT_EQ(fill_at(*queue, *memory, 0, 0, pattern), 0u);
    wait();
}

TEST_P(QueueTest, RunsCallbacksAfterEarlierAndBeforeLaterWork) {
    const auto program = GetParam().multiply_add(*device);
    const auto memory = device->allocate(4);
    write_at(*queue, *memory, 0, bytes_of({1}));
    std::vector<int> seen;
    for (int k = 0; k < 20; ++k) {
        launch_multiply_add(*queue, *program, *memory, 2, 1);
        queue->call([&] { seen.push_back(*reinterpret_cast<const int*>(memory->host())); });
    }
    wait();
    ASSERT_EQ(seen.size(), 20u);
    for (int k = 0; k < 20; ++k) EXPECT_EQ(seen[static_cast<std::size_t>(k)], 2 << k);
}

TEST_P(QueueTest, HoldsLaterCommandsBackUntilACallbackIsDone) {
    const auto program = GetParam().multiply_add(*device);
    const auto memory = device->allocate(4);
    write_at(*queue, *memory, 0, bytes_of({1}));
    Gate gate;
    queue->call([&] { gate.pass(); });
    const Point point = launch_multiply_add(*queue, *program, *memory, 5, 1);
    EXPECT_FALSE(queue->timeline().wait_for(point, 5ms));
    EXPECT_LT(queue->timeline().completed(), point);
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 1);
    gate.open();
    queue->timeline().wait(point);
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 5);
}

TEST_P(QueueTest, ACallbackOfOneQueueDoesNotHoldBackAnother) {
    const auto program = GetParam().multiply_add(*device);
    const auto other = device->make_queue();
    const auto memory = device->allocate(8);
    write_at(*other, *memory, 0, bytes_of({1, 1}));
    Gate gate;
    queue->call([&] { gate.pass(); });
    launch_multiply_add(*queue, *program, *memory, 5, 1, 4);
    launch_multiply_add(*other, *program, *memory, 7, 1);
    other->timeline().wait(other->last());  // would never end if the driver's queue were blocked
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 7);
    gate.open();
    wait();
}

TEST_P(QueueTest, TakesManyCommandsBehindACallback) {
    constexpr int launches = unless_sanitized(2000, 500);
    for (const bool mapped : {true, false}) {
        use(mapped);
        const auto program = GetParam().multiply_add(*device);
        const std::size_t count = 40'000;
        const auto memory = device->allocate(count * sizeof(int));
        Gate gate;
        queue->call([&] { gate.pass(); });
        std::vector<int> data(count, 1);
        write_at(*queue, *memory, 0, bytes_of(data));  // more than the ring holds
        std::fill(data.begin(), data.end(), 100);
        for (int k = 0; k < launches; ++k) launch_multiply_add(*queue, *program, *memory, 1, 64);
        std::vector<int> back(count);
        const Point point = read_at(*queue, *memory, 0, std::as_writable_bytes(std::span(back)));
        EXPECT_LT(queue->timeline().completed(), 2u);
        gate.open();
        queue->timeline().wait(point);
        EXPECT_EQ(back[63], 1 + launches * 63);
        EXPECT_EQ(back[count - 1], 1);
    }
}

TEST_P(QueueTest, FillsAReadsDestinationWhenThePointPasses) {
    use(false);
    const auto memory = device->allocate(40'000);
    const auto data = counting(10'000, 5);
    write_at(*queue, *memory, 0, bytes_of(data));
    std::vector<int> back(10'000);
    const Point point = read_at(*queue, *memory, 0, std::as_writable_bytes(std::span(back)));
    while (queue->timeline().completed() < point) std::this_thread::yield();  // without a waiting thread
    EXPECT_EQ(back, data);
}

TEST_P(QueueTest, ReportsACallbacksExceptionOnceAtTheWait) {
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

TEST_P(QueueTest, LetsACallbackSubmitToItsOwnQueue) {
    const auto program = GetParam().multiply_add(*device);
    const auto memory = device->allocate(4);
    write_at(*queue, *memory, 0, bytes_of({0}));
    std::atomic<int> count{0};
    queue->call([&] {
        for (int i = 0; i < 1000; ++i) {
            launch_multiply_add(*queue, *program, *memory, 1, 1);
            queue->call([&] { ++count; });
        }
    });
    wait();
    wait();  // the first wait was for what was known before
    EXPECT_EQ(count, 1000);
}

TEST_P(QueueTest, WaitsForAnotherQueueOfItsDevice) {
    const auto program = GetParam().multiply_add(*device);
    const auto other = device->make_queue();
    const std::uint32_t count = unless_sanitized(500'000, 100'000);
    const auto memory = device->allocate(count * sizeof(int));
    write_at(*queue, *memory, 0, bytes_of(std::vector<int>(count, 0)));
    for (int k = 0; k < 10; ++k) {
        launch_multiply_add(*queue, *program, *memory, 1, count);
        other->wait_for(queue->timeline(), queue->last());
        launch_multiply_add(*other, *program, *memory, 1, count);
        queue->wait_for(other->timeline(), other->last());
    }
    EXPECT_EQ(read_back(*queue, *memory, count)[1000], 20 * 1000);
}

TEST_P(QueueTest, ACallbackBehindAnotherQueuesReadFindsItsBytes) {
    for (const bool mapped : {true, false}) {
        use(mapped);
        const auto program = GetParam().multiply_add(*device);
        const auto other = device->make_queue();
        const std::uint32_t count = unless_sanitized(500'000, 100'000);
        const auto memory = device->allocate(count * sizeof(int));
        write_at(*other, *memory, 0, bytes_of(std::vector<int>(count, 0)));
        for (int k = 1; k <= 10; ++k) {
            for (int i = 0; i < 3; ++i) launch_multiply_add(*other, *program, *memory, 1, count);
            std::vector<int> home(count, -1);
            const Point read = read_at(*other, *memory, 0, std::as_writable_bytes(std::span(home)));
            queue->wait_for(other->timeline(), read);
            int seen = 0;
            // Nobody asks the other queue.
            queue->timeline().wait(queue->call([&] { seen = home[count - 1]; }));
            ASSERT_EQ(seen, 3 * k * static_cast<int>(count - 1)) << (mapped ? "" : "through staging");
            EXPECT_GE(other->timeline().completed(), read);
        }
    }
}

TEST_P(QueueTest, WaitsForACallbackOfAnotherQueue) {
    const auto program = GetParam().multiply_add(*device);
    const auto other = device->make_queue();
    const auto memory = device->allocate(4);
    Gate gate;
    const Point set = other->call([&] {
        gate.pass();
        *reinterpret_cast<int*>(memory->host()) = 21;
    });
    queue->wait_for(other->timeline(), set);
    const Point point = launch_multiply_add(*queue, *program, *memory, 2, 1);
    EXPECT_FALSE(queue->timeline().wait_for(point, 2ms));
    gate.open();
    queue->timeline().wait(point);
    EXPECT_EQ(*reinterpret_cast<const int*>(memory->host()), 42);
}

TEST_P(QueueTest, QueuesThatWaitForEachOtherInTurnMakeProgress) {
    const auto other = device->make_queue();
    std::vector<int> order;
    for (int i = 0; i < 100; ++i) {
        const Point a = queue->call([&order, i] { order.push_back(2 * i); });
        other->wait_for(queue->timeline(), a);
        const Point b = other->call([&order, i] { order.push_back(2 * i + 1); });
        queue->wait_for(other->timeline(), b);
    }
    wait();
    ASSERT_EQ(order.size(), 200u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST_P(QueueTest, TakesLaunchesFromSeveralThreads) {
    const auto program = GetParam().multiply_add(*device);
    const auto memory = device->allocate(4 * 4096);
    write_at(*queue, *memory, 0, bytes_of(std::vector<int>(4096, 0)));
    std::vector<std::thread> threads;
    for (std::uint64_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int k = 0; k < 300; ++k) {
                const Point point = launch_multiply_add(*queue, *program, *memory, 1, 1024, t * 4096);
                if (k % 7 == 0) queue->timeline().wait(point);
                if (k % 50 == 0) queue->call([] {});
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    const std::vector<int> result = read_back(*queue, *memory, 4096);
    for (std::size_t i = 0; i < 4096; ++i) ASSERT_EQ(result[i], 300 * static_cast<int>(i % 1024));
}

TEST_P(QueueTest, EndsWithWorkUnderWay) {
    const auto program = GetParam().multiply_add(*device);
    const auto memory = device->allocate(4 << 20);
    for (int k = 0; k < 10; ++k) launch_multiply_add(*queue, *program, *memory, 1, 1 << 20);
    int called = 0;
    queue->call([&] { called = 1; });
    queue.reset();
    EXPECT_EQ(called, 1);
}

TEST(Queues, OfTwoDriversWorkTogether) {
    for (const Subject& first : subjects()) {
        for (const Subject& second : subjects()) {
            if (&first >= &second) continue;
            const auto a = first.open(true);
            const auto b = second.open(true);
            if (!a || !b) continue;
            SCOPED_TRACE(std::string(first.label) + " and " + second.label);
            const auto qa = a->make_queue();
            const auto qb = b->make_queue();
            const auto pa = first.multiply_add(*a);
            const auto pb = second.multiply_add(*b);
            const std::uint32_t count = 100'000;
            const auto ma = a->allocate(count * sizeof(int));
            const auto mb = b->allocate(count * sizeof(int));
            write_at(*qa, *ma, 0, bytes_of(std::vector<int>(count, 0)));
            std::vector<int> between(count);
            for (int k = 0; k < 5; ++k) {
                launch_multiply_add(*qa, *pa, *ma, 1, count);
                qb->wait_for(qa->timeline(),
                             read_at(*qa, *ma, 0, std::as_writable_bytes(std::span(between))));
                qb->call([&] { std::memcpy(mb->host(), between.data(), count * sizeof(int)); });
                launch_multiply_add(*qb, *pb, *mb, 1, count);
                qa->wait_for(qb->timeline(), qb->last());
                qa->call([&] { std::memcpy(ma->host(), mb->host(), count * sizeof(int)); });
            }
            EXPECT_EQ(read_back(*qa, *ma, count)[99'999], 10 * 99'999);
            qb->timeline().wait(qb->last());
        }
    }
}

}  // namespace
}  // namespace volley::testing
