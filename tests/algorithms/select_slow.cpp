// Selections, merges and searches of ten million elements, and selections whose tiles often wait for others.
#include "support/device_fixture.hpp"
#include "support/sanitized.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/searchsorted.hpp>
#include <volley/algorithms/select.hpp>

#include <algorithm>
#include <random>
#include <thread>

namespace volley {
namespace {

using testing::unless_sanitized;

constexpr unsigned large_seed = 20261121;
constexpr std::size_t large_count = 10'000'019;

std::vector<u32> large_numbers(std::size_t count, u32 limit) {
    SCOPED_TRACE(large_seed);
    std::mt19937 random(large_seed);
    std::vector<u32> values(count);
    for (u32& value : values) value = static_cast<u32>(random() % limit);
    return values;
}

VOLLEY_DEVICE_TEST(LargeSelection, IsThatOfTheHost) {
    const std::size_t n =
        device().backend == "reference" ? 200'003 : unless_sanitized<std::size_t>(large_count, 300'007);
    const std::vector<u32> data = large_numbers(n, 1000);
    const Buffer<u32> from = as_buffer(data), to(n), count(1);
    for (const u32 limit : {0U, 1U, 500U, 999U, 1000U}) {
        std::vector<u32> expected = data;
        const auto middle =
            std::stable_partition(expected.begin(), expected.end(), [&](u32 x) { return x < limit; });
        const auto kept = static_cast<std::size_t>(middle - expected.begin());
        partition(to, count, from, lazy(from) < limit);
        EXPECT_EQ(count.item(), kept);
        EXPECT_TRUE(to.read(0) == expected) << limit;
        copy_if(to, count, from, lazy(from) < limit);
        EXPECT_EQ(count.item(), kept);
        expected.resize(kept);
        std::vector<u32> got = to.read(0);
        got.resize(kept);
        EXPECT_TRUE(got == expected) << limit;
        EXPECT_TRUE(copy_if(from, lazy(from) < limit).read(0) == expected) << limit;
    }
}

VOLLEY_DEVICE_TEST(LargeSelection, EncodesRuns) {
    const std::size_t n =
        device().backend == "reference" ? 200'003 : unless_sanitized<std::size_t>(large_count, 300'007);
    std::vector<u32> data = large_numbers(n, 2);
    std::vector<u32> values, lengths;
    for (std::size_t i = 0; i < n; ++i) {
        if (i == 0 || data[i] != data[i - 1]) {
            values.push_back(data[i]);
            lengths.push_back(0);
        }
        ++lengths.back();
    }
    const auto runs = run_length_encode(as_buffer(data));
    EXPECT_TRUE(runs.values.read(0) == values);
    EXPECT_TRUE(runs.lengths.read(0) == lengths);
}

VOLLEY_DEVICE_TEST(LargeMerge, IsThatOfTheHost) {
    const std::size_t n =
        device().backend == "reference" ? 100'003 : unless_sanitized<std::size_t>(large_count / 2, 100'003);
    std::vector<u32> a = large_numbers(n, 1U << 20U),
                     b(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n / 3));
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    std::vector<u32> expected(a.size() + b.size()), places;
    std::merge(a.begin(), a.end(), b.begin(), b.end(), expected.begin());
    const Buffer<u32> from_a = as_buffer(a), from_b = as_buffer(b);
    EXPECT_TRUE(merge(from_a, from_b).read(0) == expected);
    for (const u32 x : b)
        places.push_back(static_cast<u32>(std::lower_bound(a.begin(), a.end(), x) - a.begin()));
    EXPECT_TRUE(searchsorted(from_a, from_b).read(0) == places);
}

// Small tiles and more threads than cores: tiles are often suspended while others wait for them.
TEST(SelectionChain, EndsHoweverThreadsAreScheduled) {
    const std::vector<u32> data = large_numbers(100'003, 10);
    std::vector<u32> expected;
    std::copy_if(data.begin(), data.end(), std::back_inserter(expected), [](u32 x) { return x < 5; });
    std::vector<std::thread> threads;
    for (int t = 0; t < 6; ++t) {
        threads.emplace_back([&] {
            const Context context = make_context({.devices = {"cpu"}});
            const ContextScope scope = context.use();
            const Buffer<u32> from = as_buffer(data), to(data.size()), count(1);
            for (int k = 0; k < unless_sanitized(200, 10); ++k) {
                copy_if(to, count, from, lazy(from) < 5U, {.tuning = {.tile_bytes = 64}});
                ASSERT_EQ(count.item(), expected.size());
                std::vector<u32> got = to.read(0);
                got.resize(expected.size());
                ASSERT_TRUE(got == expected) << k;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace volley
