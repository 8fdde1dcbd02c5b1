// Random orders: permutations of numbers, and of the rows of arrays.
#include "support/backend_test.hpp"

#include <volley/algorithms/map.hpp>
#include <volley/algorithms/random.hpp>
#include <volley/algorithms/sort.hpp>

#include <algorithm>
#include <map>
#include <numeric>

namespace volley {
namespace {

using testing::error_of;

std::vector<u32> numbers_below(u32 count) {
    std::vector<u32> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0U);
    return numbers;
}

VOLLEY_DEVICE_TEST(RandomOrders, HaveEachNumberOnce) {
    for (const u32 n : {0U, 1U, 2U, 3U, 4U, 7U, 8U, 9U, 255U, 256U, 257U, 1000U, 5003U}) {
        std::vector<u32> order = random::permutation(n, {.seed = 3}).read(0);
        if (n > 100) {
            EXPECT_NE(order, numbers_below(n));
            EXPECT_NE(order, random::permutation(n, {.seed = 4}).read(0));
            EXPECT_NE(order, random::permutation(n, {.seed = 3, .stream = 1}).read(0));
        }
        std::sort(order.begin(), order.end());
        EXPECT_EQ(order, numbers_below(n)) << n;
    }
}

VOLLEY_DEVICE_TEST(RandomOrders, AreEqualOnAllDevices) {
    EXPECT_EQ(random::permutation(9, {.seed = 7}).read(0), (std::vector<u32>{8, 3, 6, 1, 0, 4, 2, 7, 5}));
}

// 24 orders, a hundred times each: 99.9 % of chi-squared values are below 49.7.
TEST(RandomOrderFrequencies, AreEqual) {
    const Context context = make_context({.devices = {"cpu:0"}});
    const auto use = context.use();
    std::map<std::vector<u32>, int> counts;
    for (u32 seed = 0; seed < 2400; ++seed) ++counts[random::permutation(4, {.seed = seed}).read(0)];
    ASSERT_EQ(counts.size(), 24U);
    double chi_squared = 0;
    for (const auto& [order, count] : counts) chi_squared += (count - 100) * (count - 100) / 100.;
    EXPECT_LT(chi_squared, 49.7);
}

VOLLEY_DEVICE_TEST(ShuffledArrays, HaveTheirRowsInThatOrder) {
    std::vector<i32> values(60 * 7);
    std::iota(values.begin(), values.end(), 0);
    const Buffer<i32> x = as_buffer(values, Shape{60, 7});
    const std::vector<u32> order = random::permutation(60, {.seed = 5}).read(0);
    std::vector<i32> expected;
    for (const u32 row : order) {
        for (i32 k = 0; k < 7; ++k) expected.push_back(static_cast<i32>(row) * 7 + k);
    }
    EXPECT_EQ(random::shuffle(x, {.seed = 5}).read(0), expected);
    Buffer<i32> in_place = as_buffer(values, Shape{60, 7});
    random::shuffle(in_place, in_place, {.seed = 5});
    EXPECT_EQ(in_place.read(0), expected);
    const std::vector<u32> columns = random::permutation(7, {.seed = 6}).read(0);
    const std::vector<i32> mixed = random::shuffle(x, {.seed = 6, .axis = -1}).read(0);
    for (std::size_t k = 0; k < 7; ++k) EXPECT_EQ(mixed[k], static_cast<i32>(columns[k]));
    const auto squares = map([](Value<u32> i) { return i * i; }).over(100)();
    EXPECT_EQ(sort(random::shuffle(squares, {.seed = 1})).read(0)[99], 9801U);
}

VOLLEY_BACKEND_TEST(ShuffledArrays, TakeSeedsInGraphs) {
    Buffer<u32> order(50), total(50);
    total.fill(0);
    CommandGraph graph = record([&] {
        random::permutation(order, {.seed = dyn<u64>("seed")});
        transform(total, map([](Value<u32> i, Buff<const u32> a, Buff<const u32> b) { return a[i] + b[i]; })(
                             total, order));
    });
    graph.bind("seed", std::vector<u64>{1, 2});
    graph.submit({.instances = 2, .queue = queue(1)});
    const std::vector<u32> one = random::permutation(50, {.seed = 1}).read(0);
    const std::vector<u32> two = random::permutation(50, {.seed = 2}).read(0);
    const std::vector<u32> got = total.read(1);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], one[i] + two[i]);
}

VOLLEY_BACKEND_TEST(ShuffledArrays, RefuseBadInput) {
    const Buffer<i32> x = as_buffer({1, 2, 3});
    Buffer<i32> out = as_buffer({7, 7, 7});
    error_of(ErrorCode::IndexError, [&] { random::shuffle(out, x, {.axis = 1}); });
    error_of(ErrorCode::TypeMismatch, [&] { random::shuffle(Buffer<u32>(3), x); });
    error_of(ErrorCode::SizeMismatch, [&] { random::shuffle(Buffer<i32>(4), x); });
    error_of(ErrorCode::TypeMismatch, [&] { random::permutation(out); });
    error_of(ErrorCode::InvalidShape, [&] { random::permutation(Buffer<u32>(Shape{3, 4})); });
    EXPECT_EQ(out.read(0), (std::vector<i32>{7, 7, 7})) << "nothing was written";
}

}  // namespace
}  // namespace volley
