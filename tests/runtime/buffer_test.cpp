// Buffers on the CPU and reference backends: round trips, lazy allocation, identity, and wrong sizes.
#include "runtime/runtime_support.hpp"

#include <array>
#include <list>

namespace volley {
namespace {

using testing::counting;
using testing::error_of;
using testing::expect_contains;
using testing::NullContext;

class BufferTest : public ::testing::TestWithParam<const char*> {
protected:
    Context context = make_context({.devices = {GetParam()}, .queues_per_device = 2});
    ContextScope scope = context.use();
};
INSTANTIATE_TEST_SUITE_P(Backends, BufferTest, ::testing::Values("cpu", "reference"));

TEST_P(BufferTest, HasItsDataInEveryReplica) {
    const std::vector<double> data = counting<double>(70'000);
    const Buffer<double> buffer = as_buffer(data);
    EXPECT_EQ(buffer.size(), data.size());
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<double>>{data, data}));
}

TEST_P(BufferTest, IsCreatedFromAnyRange) {
    EXPECT_EQ(as_buffer({1, 2, 3}).read(0), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(as_buffer(std::array<int, 2>{1, 2}).read(0), (std::vector<int>{1, 2}));
    EXPECT_EQ(as_buffer(std::list<int>{1, 2}).read(0), (std::vector<int>{1, 2}));
    const int plain[] = {4, 5};
    EXPECT_EQ(as_buffer(plain).read(0), (std::vector<int>{4, 5}));
    const Buffer<int> square = as_buffer(counting<int>(12), {3, 4});
    EXPECT_EQ(square.shape(), (Shape{3, 4}));
}

TEST_P(BufferTest, WritesOneReplicaOrAll) {
    Buffer<int> buffer(3);
    buffer.write({1, 2, 3});
    buffer.write(std::vector<int>{7, 8, 9}, queue(1));
    EXPECT_EQ(buffer.read(queue(0)), (std::vector<int>{1, 2, 3}));
    EXPECT_EQ(buffer.read(1), (std::vector<int>{7, 8, 9}));
}

TEST_P(BufferTest, FillsAllReplicas) {
    Buffer<vec3> buffer({10, 10});
    buffer.fill({1, 2, 3});
    EXPECT_EQ(buffer.read(1)[99], vec3(1, 2, 3));
}

TEST_P(BufferTest, AllocatesNothingUntilItIsUsed) {
    Buffer<float> big({1'000'000, 1'000});
    EXPECT_EQ(big.bytes(), 4'000'000'000u);
    EXPECT_FALSE(big.is_allocated(0));
    Buffer<float> small(10);
    small.write(std::vector<float>(10), queue(1));
    EXPECT_FALSE(small.is_allocated(0));
    EXPECT_TRUE(small.is_allocated(1));
}

TEST_P(BufferTest, ReadingAnUnwrittenBufferThrows) {
    Buffer<float> buffer(10, {.name = "weights"});
    const std::string text = error_of(ErrorCode::NotAllocated, [&] { (void)buffer.read(0); });
    expect_contains(text, "buffer 'weights'");
    buffer.write(std::vector<float>(10), queue(0));
    EXPECT_NO_THROW((void)buffer.read(0));
    error_of(ErrorCode::NotAllocated, [&] { (void)buffer.read(1); });
}

TEST_P(BufferTest, SizesMustAgree) {
    Buffer<int> buffer({2, 3}, {.name = "six"});
    for (const std::size_t wrong : {0u, 5u, 7u}) {
        const std::string text =
            error_of(ErrorCode::SizeMismatch, [&] { buffer.write(std::vector<int>(wrong)); });
        expect_contains(text, "buffer 'six'");
        expect_contains(text, "but the buffer has 6");
    }
    EXPECT_FALSE(buffer.is_allocated(0)) << "checked before allocation";
    std::vector<int> five(5);
    error_of(ErrorCode::SizeMismatch, [&] { buffer.read_into(five); });
    buffer.write(std::vector<int>(6));
    error_of(ErrorCode::IndexError, [&] { (void)buffer.read(2); });
}

TEST_P(BufferTest, EmptyShapesAreValid) {
    Buffer<int> none({0, 5});
    EXPECT_EQ(none.size(), 0u);
    none.write(std::vector<int>());
    none.fill(3);
    EXPECT_EQ(none.read(0), std::vector<int>());
    EXPECT_EQ(Buffer<int>(Shape{}).size(), 1u) << "rank 0 is one element";
}

TEST_P(BufferTest, InvalidShapesThrowAtConstruction) {
    EXPECT_THROW(Buffer<int>({-1}), ArgumentError);
    EXPECT_THROW(Buffer<double>({std::int64_t{1} << 40, std::int64_t{1} << 40}), ArgumentError);
    EXPECT_THROW(Buffer<double>(std::int64_t{1} << 62), ArgumentError) << "the bytes overflow";
    EXPECT_THROW(AnyBuffer(DType(), {3}), ArgumentError);
}

TEST_P(BufferTest, CopiesShareOneBuffer) {
    Buffer<int> buffer(4);
    Buffer<int> copy = buffer;
    EXPECT_EQ(copy.id(), buffer.id());
    EXPECT_EQ(copy.storage_id(), buffer.storage_id());
    EXPECT_NE(Buffer<int>(4).id(), buffer.id());
    copy.fill(5);
    EXPECT_EQ(buffer.read(0)[3], 5);
}

TEST_P(BufferTest, UsingAnEmptyHandleThrows) {
    Buffer<int> empty;
    EXPECT_EQ(empty.size(), 0u);
    error_of(ErrorCode::InvalidArgument, [&] { empty.write({1}); });
    error_of(ErrorCode::InvalidArgument, [&] { (void)empty.read(0); });
    auto set = kernel("set", [](Buff<int> data) { data[global_id().x] = 1; });
    error_of(ErrorCode::InvalidArgument, [&] { set(empty); });
}

TEST_P(BufferTest, QueuesOfOtherContextsThrow) {
    Buffer<int> buffer(1);
    const Context other = make_context({.devices = {"cpu"}});
    error_of(ErrorCode::WrongContext, [&] { buffer.write(std::vector<int>(1), other.queue(0)); });
}

TEST(BufferMemory, OutOfMemoryThrowsAndTheContextStaysUsable) {
    const Context context = make_context({.devices = {"cpu"}, .memory_limit = 1 << 20});
    const auto use = context.use();
    Buffer<char> fits(600'000);
    fits.fill('a');
    {
        Buffer<char> too_much(600'000, {.name = "too much"});
        const std::string text = error_of(ErrorCode::OutOfMemory, [&] { too_much.fill('b'); });
        expect_contains(text, "600000 bytes");
        EXPECT_FALSE(too_much.is_allocated(0));
    }
    EXPECT_EQ(fits.read(0)[599'999], 'a');
    fits = Buffer<char>();
    Buffer<char> again(600'000);
    again.fill('c');
    EXPECT_EQ(again.read(0)[0], 'c');
}

TEST(BufferMemory, ManyAllocationsAndFailuresLeakNothing) {
    NullContext null({.devices = {"null:0"}, .queues_per_device = 2, .memory_limit = 10'000});
    const auto use = null.context.use();
    for (int i = 0; i < 3000; ++i) {
        Buffer<char> a(4000);
        if (i % 2 == 0) {
            a.fill(1);  // both replicas: 8000 bytes
            Buffer<char> b(4000);
            EXPECT_THROW(b.fill(1), MemoryError);
        } else {
            a.write(std::vector<char>(4000), queue(1));
        }
    }
    wait();
    EXPECT_EQ(memory_stats().total.live, 0u);
    trim();
    EXPECT_EQ(null.log->live_bytes, 0u);
    EXPECT_EQ(null.log->live_blocks, 0u);
}

TEST(BufferMemory, IsFreedOnlyAfterItsWorkCompletes) {
    NullContext null;
    const auto use = null.context.use();
    auto touch = kernel("touch", [](Buff<int> data) { data[global_id().x] = 1; });
    {
        Buffer<int> temporary(64);
        touch(temporary);
    }
    trim();
    EXPECT_EQ(null.log->live_blocks, 1u) << "the kernel may still run";
    wait();
    trim();
    EXPECT_EQ(null.log->live_blocks, 0u);
}

TEST(BufferMemory, AllocationWaitsForWorkWhenMemoryIsShort) {
    NullContext null({.devices = {"null:0"}, .memory_limit = 1000});
    const auto use = null.context.use();
    auto touch = kernel("touch", [](Buff<char> data) { data[global_id().x] = 1; });
    for (int i = 0; i < 10; ++i) {
        Buffer<char> temporary(800);
        touch(temporary);
    }
    EXPECT_LE(null.log->live_bytes, 1000u);
}

}  // namespace
}  // namespace volley
