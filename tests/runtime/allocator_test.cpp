// The allocator on the null backend: which block an allocation gets, and when blocks are destroyed.
#include "runtime/allocator.hpp"
#include "support/null/null_driver.hpp"

#include <volley/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace volley::runtime {
namespace {

using backends::Memory;
using backends::Point;

/// A timeline that counts its queries.
class CountedTimeline final : public backends::Timeline {
public:
    [[nodiscard]] Point completed() const noexcept override {
        ++asked;
        return reached;
    }
    void wait(Point point) override { reached = std::max(reached, point); }
    bool wait_for(Point point, std::chrono::nanoseconds /*timeout*/) override { return reached >= point; }

    mutable int asked = 0;
    Point reached = 0;
};

class AllocatorTest : public ::testing::Test {
protected:
    static constexpr std::uint64_t mebi = 1 << 20;

    void make(const AllocatorOptions& options, unsigned queues = 2) {
        device = backends::null::make_driver(log)->open(1, {.memory_limit = options.limit});
        timelines.resize(queues);
        std::vector<backends::Timeline*> list;
        for (CountedTimeline& timeline : timelines) list.push_back(&timeline);
        allocator = std::make_unique<Allocator>(*device, list, options);
    }
    /// Frees a block that a queue uses until `point`.
    void recycle(std::unique_ptr<Block> block, unsigned queue = 0, Point point = 0) {
        block->uses[queue] = point;
        allocator->recycle(std::move(block));
    }
    [[nodiscard]] int times_asked() const {
        int sum = 0;
        for (const CountedTimeline& timeline : timelines) sum += timeline.asked;
        return sum;
    }

    std::shared_ptr<backends::null::NullLog> log = std::make_shared<backends::null::NullLog>();
    std::unique_ptr<backends::Device> device;
    std::vector<CountedTimeline> timelines;
    std::unique_ptr<Allocator> allocator;
};

TEST(SizeClassTest, WastesAtMostAnEighth) {
    std::mt19937_64 random(7);
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t bytes = random() >> (2 + random() % 62);
        const unsigned index = SizeClass::above(bytes);
        ASSERT_LT(index, SizeClass::count) << bytes;
        const std::uint64_t size = SizeClass::size(index);
        ASSERT_GE(size, bytes);
        ASSERT_TRUE(index == 0 || SizeClass::size(index - 1) < bytes) << bytes << ": not the smallest class";
        ASSERT_TRUE(bytes <= 4096 || size - bytes <= bytes / 8) << bytes;
        if (bytes >= SizeClass::smallest) {
            const unsigned below = SizeClass::below(bytes);
            ASSERT_LE(SizeClass::size(below), bytes);
            ASSERT_TRUE(below + 1 == SizeClass::count || SizeClass::size(below + 1) > bytes) << bytes;
        }
    }
    EXPECT_EQ(SizeClass::size(SizeClass::above(0)), 256u);
    EXPECT_EQ(SizeClass::size(SizeClass::above(4096)), 4096u);
    EXPECT_EQ(SizeClass::size(SizeClass::above(4097)), 4608u);
    EXPECT_EQ(SizeClass::above(SizeClass::largest), SizeClass::count - 1);
    EXPECT_EQ(SizeClass::size(SizeClass::count - 1), SizeClass::largest);
}

TEST_F(AllocatorTest, AFreedBlockIsReusedForItsSizeWithoutTheDriver) {
    make({.cache_bytes = mebi});
    auto block = allocator->take(1000, 0);
    const Memory* const memory = block->memory.get();
    EXPECT_EQ(block->size(), 1024u) << "the size of its class";
    recycle(std::move(block));
    block = allocator->take(700, 0);
    EXPECT_NE(block->memory.get(), memory) << "another class: 1024 bytes are too many for 700";
    auto other = allocator->take(1024, 1);
    EXPECT_EQ(other->memory.get(), memory);
    EXPECT_EQ(log->blocks_made, 2u);
    recycle(std::move(block));
    recycle(std::move(other));
}

TEST_F(AllocatorTest, AQueueReusesItsOwnBlockWhileItsWorkIsPending) {
    make({.cache_bytes = mebi});
    auto block = allocator->take(1000, 0);
    const Memory* const memory = block->memory.get();
    recycle(std::move(block), 0, 7);
    block = allocator->take(1000, 0);
    EXPECT_EQ(block->memory.get(), memory);
    EXPECT_EQ(block->uses[0], 7u) << "the host still has to wait for it";
    EXPECT_EQ(times_asked(), 0) << "querying a timeline may cost a driver call";
    allocator->recycle(std::move(block));
}

TEST_F(AllocatorTest, AnotherQueueReusesABlockOnlyAfterItsWorkCompletes) {
    make({.cache_bytes = mebi});
    auto first = allocator->take(1000, 0);
    const Memory* const memory = first->memory.get();
    recycle(std::move(first), 0, 7);
    auto second = allocator->take(1000, 1);
    EXPECT_NE(second->memory.get(), memory) << "queue 0 still uses it";
    timelines[0].reached = 6;
    auto third = allocator->take(1000, 1);
    EXPECT_NE(third->memory.get(), memory);
    timelines[0].reached = 7;
    auto fourth = allocator->take(1000, 1);
    EXPECT_EQ(fourth->memory.get(), memory);
    EXPECT_EQ(fourth->uses, (std::vector<Point>{0, 0}));
    for (auto* block : {&second, &third, &fourth}) allocator->recycle(std::move(*block));
}

TEST_F(AllocatorTest, ABlockOfSeveralQueuesIsReusedWhenOnlyOneIsPending) {
    make({.cache_bytes = mebi}, 3);
    auto block = allocator->take(1000, 0);
    const Memory* const memory = block->memory.get();
    block->uses = {5, 6, 0};
    allocator->recycle(std::move(block));
    auto other = allocator->take(1000, 0);
    EXPECT_NE(other->memory.get(), memory) << "queue 1 still uses it";
    timelines[0].reached = 5;
    auto third = allocator->take(1000, 2);
    EXPECT_NE(third->memory.get(), memory);
    timelines[1].reached = 6;
    auto fourth = allocator->take(1000, 2);
    EXPECT_EQ(fourth->memory.get(), memory);
    // Freed after one of its two queues has completed, it can be reused by the other at once.
    fourth->uses = {5, 9, 0};
    allocator->recycle(std::move(fourth));
    auto fifth = allocator->take(1000, 1);
    EXPECT_EQ(fifth->memory.get(), memory);
    EXPECT_EQ(fifth->uses, (std::vector<Point>{0, 9, 0}));
    for (auto* b : {&other, &third, &fifth}) allocator->recycle(std::move(*b));
}

TEST_F(AllocatorTest, TakeCostsTheSameHoweverManyBlocksArePending) {
    make({.cache_bytes = 1000 * mebi}, 4);
    std::vector<std::unique_ptr<Block>> blocks;
    for (int i = 0; i < 5000; ++i) blocks.push_back(allocator->take(1000, 0));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        blocks[i]->uses[i % 3] = 100;
        if (i % 4 == 0) blocks[i]->uses[(i + 1) % 3] = 100;  // some are used by two queues
        allocator->recycle(std::move(blocks[i]));
    }
    for (CountedTimeline& timeline : timelines) timeline.asked = 0;
    auto block = allocator->take(1000, 3);
    EXPECT_LE(times_asked(), 6) << "one query per lane";
    EXPECT_EQ(log->blocks_made, 5001u);
    allocator->recycle(std::move(block));
}

TEST_F(AllocatorTest, TheCacheKeepsToItsBudgetAndEvictsTheOldest) {
    make({.cache_bytes = 4096});
    std::vector<std::unique_ptr<Block>> blocks;
    std::vector<const Memory*> memories;
    for (int i = 0; i < 6; ++i) {
        blocks.push_back(allocator->take(1024, 0));
        memories.push_back(blocks.back()->memory.get());
    }
    for (auto& block : blocks) recycle(std::move(block));
    EXPECT_EQ(allocator->stats().cached, 4096u);
    EXPECT_EQ(log->live_blocks, 4u);
    for (int i = 5; i >= 2; --i) {
        blocks[static_cast<std::size_t>(i)] = allocator->take(1024, 0);
        EXPECT_EQ(blocks[static_cast<std::size_t>(i)]->memory.get(), memories[static_cast<std::size_t>(i)])
            << "the newest first: it is likely to be in the processor's caches";
    }
    for (std::size_t i = 2; i < 6; ++i) allocator->recycle(std::move(blocks[i]));
}

TEST_F(AllocatorTest, BlocksInUseMayExceedTheBudget) {
    make({.cache_bytes = 2048});
    std::vector<std::unique_ptr<Block>> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(allocator->take(1024, 0));
    for (auto& block : blocks) recycle(std::move(block), 0, 3);
    EXPECT_EQ(log->live_blocks, 4u);
    EXPECT_EQ(allocator->stats().cached, 4096u);
    EXPECT_TRUE(allocator->waits());
    allocator->collect();
    EXPECT_EQ(log->live_blocks, 4u);
    timelines[0].reached = 3;
    allocator->collect();
    EXPECT_EQ(log->live_blocks, 2u) << "as many as the budget allows";
    EXPECT_EQ(allocator->stats().cached, 2048u);
}

TEST_F(AllocatorTest, AStalledQueueDoesNotKeepBlocksOfOtherQueues) {
    make({.cache_bytes = 2048});
    auto stuck = allocator->take(1024, 0);
    recycle(std::move(stuck), 0, 1);
    for (Point point = 1; point < 100; ++point) {
        auto first = allocator->take(700, 1);
        auto second = allocator->take(1500, 1);
        timelines[1].reached = point;
        recycle(std::move(first), 1, point);
        recycle(std::move(second), 1, point);
        ASSERT_LE(log->live_blocks, 4u);
    }
}

TEST_F(AllocatorTest, BlocksTooLargeForTheCacheAreFreedWhenTheirWorkCompletes) {
    make({.cache_bytes = 4096});
    recycle(allocator->take(5000, 0));
    EXPECT_EQ(log->live_blocks, 0u) << "it was never used";
    recycle(allocator->take(5000, 0), 1, 2);
    EXPECT_EQ(log->live_blocks, 1u);
    auto other = allocator->take(5000, 1);
    EXPECT_EQ(log->blocks_made, 3u) << "it is not reused";
    EXPECT_EQ(other->size(), 5000u) << "nor rounded";
    timelines[1].reached = 2;
    allocator->collect();
    EXPECT_EQ(log->live_blocks, 1u);
    recycle(std::move(other));
}

TEST_F(AllocatorTest, WithoutACacheNoBlockIsKeptOrRounded) {
    make({.cache_bytes = 0});
    auto block = allocator->take(1000, 0);
    EXPECT_EQ(block->size(), 1000u);
    recycle(std::move(block));
    EXPECT_EQ(log->live_blocks, 0u);
    recycle(allocator->take(1000, 0), 0, 1);
    EXPECT_EQ(log->live_blocks, 1u);
    timelines[0].reached = 1;
    recycle(allocator->take(1000, 0));
    EXPECT_EQ(log->live_blocks, 0u) << "recycle() also destroys completed blocks";
    EXPECT_EQ(allocator->stats().cache_hits, 0u);
}

TEST_F(AllocatorTest, TrimFreesUnusedBlocks) {
    make({.cache_bytes = mebi});
    auto a = allocator->take(1000, 0);
    auto b = allocator->take(2000, 0);
    auto c = allocator->take(3000, 0);
    recycle(std::move(a), 0, 9);  // older than b, and still pending
    recycle(std::move(b), 0, 4);
    recycle(std::move(c));
    timelines[0].reached = 4;
    allocator->trim();
    EXPECT_EQ(log->live_blocks, 1u);
    EXPECT_TRUE(allocator->waits());
    timelines[0].reached = 9;
    allocator->trim();
    EXPECT_EQ(log->live_blocks, 0u);
    EXPECT_EQ(log->live_bytes, 0u);
    EXPECT_FALSE(allocator->waits());
    EXPECT_EQ(allocator->stats().cached, 0u);
}

TEST_F(AllocatorTest, CachedBlocksAreEvictedAtTheLimit) {
    make({.limit = 10'000, .cache_bytes = mebi});
    recycle(allocator->take(3000, 0));
    recycle(allocator->take(4000, 0));
    EXPECT_EQ(log->live_blocks, 2u);
    auto large = allocator->take(9000, 0);
    EXPECT_EQ(log->live_blocks, 1u) << "both were evicted: 9000 bytes and either exceed the limit";
    recycle(std::move(large));
}

TEST_F(AllocatorTest, EvictsOnlyAsMuchAsNeeded) {
    make({.limit = 10'000, .cache_bytes = mebi});
    auto a = allocator->take(2000, 0);
    auto b = allocator->take(2500, 0);
    recycle(std::move(a));
    recycle(std::move(b));
    auto large = allocator->take(7000, 0);
    EXPECT_EQ(log->live_blocks, 2u) << "the older one was evicted";
    recycle(std::move(large));
}

TEST_F(AllocatorTest, NearTheLimitSizesAreNotRounded) {
    make({.limit = 10'000, .cache_bytes = mebi});
    auto a = allocator->take(5000, 0);
    auto b = allocator->take(5000, 0);
    const Memory* const memory = b->memory.get();
    EXPECT_EQ(log->live_bytes, 10'000u);
    // Blocks that were not rounded are reused for their own size and slightly smaller ones.
    recycle(std::move(b));
    b = allocator->take(5000, 0);
    EXPECT_EQ(b->memory.get(), memory);
    EXPECT_THROW(static_cast<void>(allocator->take(1, 0)), MemoryError);
    recycle(std::move(a));
    recycle(std::move(b));
    EXPECT_EQ(allocator->take(4600, 0)->size(), 5000u) << "slightly smaller";
}

TEST_F(AllocatorTest, TinyBlocksAtTheLimitAreNotCached) {
    make({.limit = 100, .cache_bytes = mebi});
    recycle(allocator->take(60, 0));
    EXPECT_EQ(log->live_blocks, 0u);
    auto block = allocator->take(100, 0);
    EXPECT_EQ(block->size(), 100u);
    recycle(std::move(block));
}

TEST_F(AllocatorTest, OutOfMemoryReportsRequestedAndLiveBytes) {
    make({.limit = 10'000, .cache_bytes = mebi});
    auto held = allocator->take(6000, 0);
    recycle(allocator->take(3000, 0));  // cached: not in use
    try {
        static_cast<void>(allocator->take(5001, 0));
        FAIL() << "nothing was thrown";
    } catch (const MemoryError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("5001 bytes"), std::string::npos) << text;
        EXPECT_NE(text.find("6000 bytes in use"), std::string::npos) << text;
        EXPECT_NE(text.find("the limit is 10000"), std::string::npos) << text;
    }
    EXPECT_FALSE(allocator->waits()) << "waiting would not help";
    EXPECT_EQ(allocator->stats().live, 6000u);
    recycle(std::move(held));
    recycle(allocator->take(5001, 0));
}

TEST_F(AllocatorTest, ImpossibleSizesThrow) {
    make({.limit = 10'000, .cache_bytes = ~std::uint64_t{0}});
    for (const std::uint64_t bytes :
         {~std::uint64_t{0}, SizeClass::largest, SizeClass::largest + 1, std::uint64_t{10'001}}) {
        EXPECT_THROW(static_cast<void>(allocator->take(bytes, 0)), MemoryError) << bytes;
    }
    EXPECT_EQ(allocator->stats().live, 0u);
    recycle(allocator->take(10'000, 0));
}

TEST_F(AllocatorTest, CountsLiveBytesAndTheirPeak) {
    make({.limit = mebi, .cache_bytes = mebi});
    auto a = allocator->take(1000, 0);
    auto b = allocator->take(500, 0);
    recycle(std::move(a));
    a = allocator->take(900, 0);
    const DeviceMemoryStats stats = allocator->stats();
    EXPECT_EQ(stats.id, "null:1");
    EXPECT_EQ(stats.live, 1400u);
    EXPECT_EQ(stats.peak, 1500u);
    EXPECT_EQ(stats.cached, 0u);
    EXPECT_EQ(stats.limit, mebi);
    EXPECT_EQ(stats.allocations, 3u);
    EXPECT_EQ(stats.cache_hits, 1u);
    recycle(std::move(a));
    recycle(std::move(b));
    EXPECT_EQ(allocator->stats().live, 0u);
    EXPECT_EQ(allocator->stats().cached, 1024u + 512u);
    EXPECT_EQ(allocator->stats().peak, 1500u);
    std::ostringstream out;
    out << stats;
    EXPECT_EQ(
        out.str(),
        "null:1: 1400 bytes live (peak 1500, limit 1048576), 0 cached; 3 allocations, 1 from the cache");
}

TEST_F(AllocatorTest, AdoptedMemoryIsReleasedWhenItsWorkCompletes) {
    make({.cache_bytes = mebi});
    bool released = false;
    auto block = std::make_unique<Block>();
    block->adopted = true;
    block->memory = device->allocate(1024);
    block->uses = {4, 0};
    block->keep_alive = std::shared_ptr<const void>(nullptr, [&](const void*) {
        EXPECT_EQ(log->live_blocks, 0u) << "the memory is destroyed first";
        static_cast<void>(allocator->stats());  // would deadlock if a lock were held
        released = true;
    });
    allocator->recycle(std::move(block));
    allocator->collect();
    allocator->trim();
    EXPECT_FALSE(released);
    EXPECT_EQ(allocator->stats().cached, 0u) << "it does not belong to the allocator";
    timelines[0].reached = 4;
    allocator->collect();
    EXPECT_TRUE(released);
}

TEST_F(AllocatorTest, KeepsNothingAfterClose) {
    make({.cache_bytes = mebi});
    auto late = allocator->take(1000, 0);
    recycle(allocator->take(1000, 0), 0, 5);
    allocator->close();
    EXPECT_EQ(log->live_blocks, 1u);
    recycle(std::move(late), 1, 9);
    EXPECT_EQ(log->live_blocks, 0u);
    allocator->close();
    allocator->trim();
    allocator->collect();
}

TEST_F(AllocatorTest, NoTwoThreadsGetTheSameBlock) {
    make({.limit = mebi, .cache_bytes = mebi / 4}, 4);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 4; ++t) {
        threads.emplace_back([this, t] {
            std::mt19937 random(t);
            std::vector<std::unique_ptr<Block>> mine;
            const auto check_out = [&] {
                std::swap(mine[random() % mine.size()], mine.back());
                std::unique_ptr<Block> block = std::move(mine.back());
                mine.pop_back();
                for (const std::size_t at : {std::size_t{0}, block->asked - 1})
                    ASSERT_EQ(block->memory->host()[at], std::byte(t));
                allocator->recycle(std::move(block));
            };
            for (int i = 0; i < 20'000; ++i) {
                if (mine.size() > 20 || (!mine.empty() && random() % 2 == 0)) {
                    check_out();
                    continue;
                }
                try {
                    mine.push_back(allocator->take(1 + random() % 40'000, t));
                    std::memset(mine.back()->memory->host(), static_cast<int>(t), mine.back()->asked);
                } catch (const MemoryError&) {
                    if (!mine.empty()) check_out();
                }
                if (i % 1000 == 0) allocator->trim();
            }
            while (!mine.empty()) check_out();
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(allocator->stats().live, 0u);
    EXPECT_GT(allocator->stats().cache_hits, 0u);
    EXPECT_LE(allocator->stats().cached, mebi / 4);
    allocator->trim();
    EXPECT_EQ(log->live_bytes, 0u);
}

}  // namespace
}  // namespace volley::runtime
