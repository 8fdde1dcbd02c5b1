// Parts of page-locked arrays, HostArray::sub(): they share the memory, and transfers treat them as the
// whole.
#include "buffer_support.hpp"
#include "support/backend_test.hpp"

#include <volley/region.hpp>

#include <numeric>

namespace volley::testing {
namespace {

HostArray<int> numbered(const Shape& shape) {
    HostArray<int> host(shape);
    std::iota(host.data(), host.data() + host.size(), 0);
    return host;
}

VOLLEY_BACKEND_TEST(HostArrayPart, SharesTheMemoryOfTheArray) {
    const HostArray<int> host = numbered({4, 6});
    const HostArray<int> part = host.sub({slice(1, 3), slice(2, 6, 2)});
    EXPECT_EQ(part.shape(), Shape({2, 2}));
    EXPECT_EQ(part.strides().to_string(), "(24, 8)");
    EXPECT_EQ(part(1, 1), 16);
    part(1, 1) = -1;
    EXPECT_EQ(host(2, 4), -1);
    EXPECT_EQ(part.sub({1})(0), 14) << "a part of a part";
    error_of(ErrorCode::IndexError, [&] { (void)host.sub({4}); });
    error_of(ErrorCode::InvalidArgument, [] { (void)HostArray<int>().sub({0}); });
}

VOLLEY_BACKEND_TEST(HostArrayPart, IsTransferredAsPageLockedMemory) {
    const HostArray<int> host = numbered({8, 16});
    Buffer<int> rows({2, 16}), columns({8, 4});
    const HostArray<int> some_rows = host.sub({slice(2, 4)});
    const HostArray<int> some_columns = host.sub({all, slice(4, 12, 2)});
    for (const auto& plan : {transfer_plan(some_rows, rows), transfer_plan(rows, some_rows)}) {
        EXPECT_TRUE(plan.page_locked);
        EXPECT_EQ(plan.path, TransferPath::Whole) << plan.rows;
    }
    for (const auto& plan : {transfer_plan(some_columns, columns), transfer_plan(columns, some_columns)}) {
        EXPECT_TRUE(plan.page_locked);
        EXPECT_EQ(plan.bytes, 8u * 4 * 4);
    }
    rows.write_async(some_rows);
    columns.write_async(some_columns);
    std::vector<int> expected(32);
    std::iota(expected.begin(), expected.end(), 32);
    EXPECT_EQ(rows.read(0), expected);
    EXPECT_EQ(rows.read(1), expected);
    expected.clear();
    for (int y = 0; y < 8; ++y) {
        for (int x = 4; x < 12; x += 2) expected.push_back(y * 16 + x);
    }
    EXPECT_EQ(columns.read(0), expected);
    EXPECT_EQ(columns.read(1), expected);
}

VOLLEY_BACKEND_TEST(HostArrayPart, ReceivesOnlyItsElements) {
    const HostArray<int> host({6, 10});
    std::fill_n(host.data(), host.size(), -7);
    const Buffer<int> block = as_buffer(std::vector<int>(12, 3), {3, 4});
    block.read_async(host.sub({slice(1, 4), slice(2, 6)})).wait();
    Buffer<int> padded({3, 4}, {.padded_shape = {3, 10}});
    padded.fill(5);
    padded.read_async(host.sub({slice(3, 6), slice(6, 10)})).wait();
    block.read_into(host.sub({slice(0, 3), slice(6, 10)}));
    for (int y = 0; y < 6; ++y) {
        for (int x = 0; x < 10; ++x) {
            const bool first = y >= 1 && y < 4 && x >= 2 && x < 6;
            const bool second = y >= 3 && x >= 6;
            const bool third = y < 3 && x >= 6;
            EXPECT_EQ(host(y, x), first || third ? 3 : second ? 5 : -7) << y << ", " << x;
        }
    }
}

VOLLEY_BACKEND_TEST(HostArrayPart, KeepsTheMemoryUntilTheTransferIsDone) {
    Buffer<int> data(64 * 256);
    {
        const HostArray<int> host = numbered({64, 256});
        for (int k = 0; k < 64; ++k) data.view(std::size_t(k) * 256, 256).write_async(host.sub({k}));
    }
    const std::vector<int> got = data.read(0);
    for (int i = 0; i < 64 * 256; ++i) ASSERT_EQ(got[std::size_t(i)], i);
    HostArray<int> back({64, 256});
    std::vector<Event> events;
    for (int k = 0; k < 64; ++k)
        events.push_back(data.view(std::size_t(k) * 256, 256).read_async(back.sub({63 - k})));
    for (const Event& event : events) event.wait();
    for (int k = 0; k < 64; ++k) ASSERT_EQ(back(63 - k, 255), k * 256 + 255);
}

VOLLEY_BACKEND_TEST(HostArrayPart, IsOrderedWithTransfersOfTheSameBytes) {
    HostArray<int> host({4, 1000});
    Buffer<int> a(1000), b(1000);
    for (int round = 0; round < 50; ++round) {
        a.fill(round);
        a.read_async(host.sub({1}), 0);
        b.write_async(host.sub({1}), 0);  // after the read into the same bytes
        a.read_async(host.sub({2}), 1);
        ASSERT_EQ(b.read(0)[999], round);
    }
    wait();
    EXPECT_EQ(host(2, 999), 49);
}

VOLLEY_BACKEND_TEST(HostArrayPart, IsReadWhenAGraphRuns) {
    HostArray<int> host = numbered({4, 8});
    Buffer<int> data(8), copy(8);
    const auto twice = kernel("twice", [](Buff<int> d) { d[global_id().x] *= 2; });
    CommandGraph graph = record([&] {
        data.write_async(host.sub({2}));
        twice(data);
        data.read_async(host.sub({3}));
    });
    for (int round = 1; round <= 3; ++round) {
        for (int x = 0; x < 8; ++x) host(2, x) = round * 10 + x;
        graph.submit().wait();
        for (int x = 0; x < 8; ++x) EXPECT_EQ(host(3, x), 2 * (round * 10 + x));
        EXPECT_EQ(host(1, 7), 15);
    }
}

}  // namespace
}  // namespace volley::testing
