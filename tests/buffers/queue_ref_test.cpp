// Transfers name their queue by number or by Queue, always last.
#include "buffers/buffer_support.hpp"

#include <functional>
#include <string>
#include <vector>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::numbers;

VOLLEY_BACKEND_TEST(QueueRef, WritesOneReplica) {
    Buffer<int> buffer(4);
    buffer.fill(1);
    buffer.write({2, 3, 4, 5}, 1);
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>{{1, 1, 1, 1}, {2, 3, 4, 5}}));
    buffer.write(numbers(4), queue(0));
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>{{0, 1, 2, 3}, {2, 3, 4, 5}}));
    buffer.write_async(numbers(4, 6), 1u);
    EXPECT_EQ(buffer.read(queue(1)), numbers(4, 6));
    EXPECT_EQ(buffer.read(queue(0)), numbers(4));
    const HostArray<int> host = buffer.empty_like();
    for (int& value : host.view()) value = 9;
    buffer.write_async(host, queue(0));
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>{{9, 9, 9, 9}, {6, 7, 8, 9}}));
}

VOLLEY_BACKEND_TEST(QueueRef, FillsAndCopiesToOneReplica) {
    Buffer<int> buffer = as_buffer(numbers(4));
    buffer.fill(7, 1);
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>{{0, 1, 2, 3}, {7, 7, 7, 7}}));
    buffer.view(0, 2).zero(queue(1));
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>{{0, 1, 2, 3}, {0, 0, 7, 7}}));
    buffer.copy_from(as_buffer(numbers(4, 50)), queue(0));
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>{{50, 51, 52, 53}, {0, 0, 7, 7}}));
    write_region(buffer, {slice(0, 1)}, std::vector<int>{-1}, 1);
    zero_region(buffer, {slice(3, 4)}, 1);
    copy_region(buffer, {slice(1, 2)}, buffer, {slice(2, 3)}, queue(0));
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>{{50, 52, 52, 53}, {-1, 0, 7, 0}}));
    EXPECT_EQ(read_region(buffer, {slice(0, 2)}, queue(1)), (std::vector<int>{-1, 0}));
}

VOLLEY_BACKEND_TEST(QueueRef, IsRecordedWithFillsAndCopies) {
    const Buffer<int> from = as_buffer(numbers(4, 50));
    Buffer<int> buffer = as_buffer(numbers(4));
    CommandGraph graph = record([&] {
        buffer.copy_from(from, 1);
        buffer.view(0, 2).fill(3, 0);
        buffer.view(3, 1).zero(queue(1));
    });
    graph.submit().wait();
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>{{3, 3, 2, 3}, {50, 51, 52, 0}}));
}

VOLLEY_BACKEND_TEST(QueueRef, ReadsOneReplica) {
    Buffer<int> buffer(2);
    buffer.write({1, 2}, 0);
    buffer.write({3, 4}, 1);
    std::vector<int> vector(2);
    int array[2] = {};
    buffer.read_into(vector, queue(1));
    buffer.read_into(array, 0);
    EXPECT_EQ(vector, (std::vector<int>{3, 4}));
    EXPECT_EQ(array[1], 2);
    buffer.read_async(vector, 0).wait();
    buffer.read_async(ArrayView<int>(array, {2}), queue(1)).wait();
    EXPECT_EQ(vector, (std::vector<int>{1, 2}));
    EXPECT_EQ(array[1], 4);
    EXPECT_EQ(buffer.sub({1}).item(queue(1)), 4);
    EXPECT_TRUE(buffer.exists_on(queue(1)));
    EXPECT_TRUE(buffer.is_allocated(queue(1)));
    if (!current_context().devices()[0].host_memory) return;
    EXPECT_EQ(buffer.as_span(queue(1))[0], 3);
    EXPECT_EQ(buffer.as_array(1)(1), 4);
    EXPECT_EQ(buffer.map(queue(0))(0), 1);
}

VOLLEY_BACKEND_TEST(QueueRef, OfAnotherContextOrWithoutAReplicaIsAnError) {
    const Context other = make_context({.devices = {"reference:0"}, .queues_per_device = 2});
    Buffer<int> buffer(1, {.name = "target"});
    buffer.fill(1);
    const HostArray<int> host = buffer.empty_like();
    std::vector<int> vector(1);
    const auto calls = [&](QueueRef queue) {
        return std::vector<std::function<void()>>{
            [&, queue] { buffer.write({1}, queue); },
            [&, queue] { buffer.write_async(host, queue); },
            [&, queue] { buffer.fill(1, queue); },
            [&, queue] { buffer.zero(queue); },
            [&, queue] { buffer.copy_from(as_buffer({1}), queue); },
            [&, queue] { static_cast<void>(buffer.read(queue)); },
            [&, queue] { buffer.read_into(vector, queue); },
            [&, queue] { buffer.read_async(host, queue); },
            [&, queue] { static_cast<void>(buffer.item(queue)); },
            [&, queue] { static_cast<void>(buffer.as_span(queue)); },
            [&, queue] { static_cast<void>(buffer.as_array(queue)); },
            [&, queue] { static_cast<void>(buffer.map(queue)); },
        };
    };
    const Queue foreign = other.queue(1);
    for (const auto& call : calls(foreign))
        expect_contains(error_of(ErrorCode::WrongContext, call), "'target'");
    for (const auto& call : calls(-1)) expect_contains(error_of(ErrorCode::IndexError, call), "queue -1");
    for (const auto& call : calls(~std::uint64_t{0})) error_of(ErrorCode::IndexError, call);
    for (const auto& call : calls(2)) expect_contains(error_of(ErrorCode::IndexError, call), "2 queues");
    EXPECT_FALSE(buffer.exists_on(foreign));
    EXPECT_FALSE(buffer.exists_on(-1));
    EXPECT_FALSE(buffer.is_allocated(2));
    EXPECT_EQ(buffer.read(), (std::vector<std::vector<int>>{{1}, {1}})) << "nothing was changed";
}

template <class R>
concept CanBeReadInto = requires(const Buffer<int>& buffer, R&& to) {
    buffer.read_into(std::forward<R>(to));
};

TEST(ReadInto, TakesMemoryThatIsWritableAndOutlivesTheCall) {
    static_assert(CanBeReadInto<std::vector<int>&>);
    static_assert(CanBeReadInto<std::span<int>>);
    static_assert(CanBeReadInto<ArrayView<int>>);
    static_assert(CanBeReadInto<HostArray<int>>);
    static_assert(!CanBeReadInto<std::vector<int>>);
    static_assert(!CanBeReadInto<const std::vector<int>&>);
    static_assert(!CanBeReadInto<std::span<const int>>);
    static_assert(!CanBeReadInto<ArrayView<const int>>);
    static_assert(!CanBeReadInto<std::vector<float>&>);
}

}  // namespace
}  // namespace volley
