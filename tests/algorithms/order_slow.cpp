// Histograms and order statistics of many elements and of many rows.
#include "support/device_fixture.hpp"

#include <volley/algorithms/histogram.hpp>
#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/percentile.hpp>
#include <volley/algorithms/top_k.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace volley {
namespace {

constexpr std::size_t many = 10'000'000;

// The reference interpreter would take minutes.
std::size_t many_of(const DeviceInfo& device) { return device.backend == "reference" ? 100'000 : many; }

std::vector<u32> many_keys(std::size_t count, u32 limit) {
    std::mt19937 random(1);
    std::vector<u32> keys(count);
    for (u32& key : keys) key = static_cast<u32>(random() % limit);
    return keys;
}

VOLLEY_DEVICE_TEST(OrderSlow, CountsManyElements) {
    const std::vector<u32> keys = many_keys(many_of(device()), 2'000'000);
    const Buffer<u32> data = as_buffer(keys);
    for (const u32 count : {256U, 20'000U, 2'000'000U}) {
        std::vector<u32> expected(count);
        for (const u32 key : keys) ++expected[key % count];
        const auto remainder = lazy(data) % count;
        EXPECT_EQ(bincount(remainder, count).read(0), expected) << count;
        std::vector<float> sums(expected.begin(), expected.end());
        EXPECT_EQ(bincount(remainder, count, cast<float>(lazy(data)) * 0.F + 1.F).read(0), sums) << count;
    }
}

VOLLEY_DEVICE_TEST(OrderSlow, SelectsFromManyElements) {
    std::vector<u32> keys = many_keys(many_of(device()), ~0U);
    const Buffer<u32> data = as_buffer(keys);
    const std::int64_t k = 1000;
    const auto top = top_k(data, k);
    Buffer<u32> found(Shape{3});
    percentile(found, data, {0, 50, 99.99}, {.method = PercentileMethod::Lower});
    std::vector<u32> order(keys.size());
    std::iota(order.begin(), order.end(), 0U);
    std::partial_sort(order.begin(), order.begin() + k, order.end(),
                      [&](u32 a, u32 b) { return keys[a] != keys[b] ? keys[a] > keys[b] : a < b; });
    order.resize(k);
    EXPECT_EQ(top.indices.read(0), order);
    const auto at = [&](double q) {
        const auto rank =
            keys.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(keys.size() - 1));
        std::nth_element(keys.begin(), rank, keys.end());
        return *rank;
    };
    EXPECT_EQ(found.read(0), (std::vector<u32>{at(0), at(0.5), at(0.9999)}));
}

VOLLEY_DEVICE_TEST(OrderSlow, TakesManyRows) {
    const std::int64_t many_rows = device().backend == "reference" ? 2003 : 100'003;
    const std::vector<u32> keys = many_keys(static_cast<std::size_t>(many_rows) * 3, 5);
    const Buffer<u32> data = as_buffer(keys, Shape{many_rows, 3});
    std::vector<u32> counts(static_cast<std::size_t>(many_rows) * 5);
    std::vector<float> medians;
    std::vector<u32> first;
    for (std::size_t r = 0; r < static_cast<std::size_t>(many_rows); ++r) {
        std::vector<u32> row(keys.begin() + static_cast<std::ptrdiff_t>(r * 3),
                             keys.begin() + static_cast<std::ptrdiff_t>(r * 3 + 3));
        for (const u32 key : row) ++counts[r * 5 + key];
        first.push_back(static_cast<u32>(std::max_element(row.begin(), row.end()) - row.begin()));
        std::sort(row.begin(), row.end());
        medians.push_back(static_cast<float>(row[1]));
    }
    EXPECT_EQ(bincount(data, 5, {.axis = 1}).read(0), counts);
    EXPECT_EQ(median(data, {.axis = 1}).read(0), medians);
    EXPECT_EQ(argtop_k(data, 1).read(0), first);
    EXPECT_EQ(argtop_k(data, 1, {.tuning = {.sorted = 1}}).read(0), first);
}

// Large arrays are transposed first.
VOLLEY_DEVICE_TEST(OrderSlow, ReadsRowsAlongOtherAxes) {
    constexpr std::size_t length = 411, columns = 203;
    const std::vector<u32> keys = many_keys(length * columns, 9);
    const Buffer<u32> data = as_buffer(keys, Shape{length, columns});
    std::vector<u32> counts(9 * columns), weights(9 * columns);
    std::vector<float> medians;
    for (std::size_t c = 0; c < columns; ++c) {
        std::vector<u32> column;
        for (std::size_t i = 0; i < length; ++i) {
            const u32 key = keys[i * columns + c];
            column.push_back(key);
            ++counts[key * columns + c];
            weights[key * columns + c] += key;
        }
        std::sort(column.begin(), column.end());
        medians.push_back(static_cast<float>(column[length / 2]));
    }
    EXPECT_EQ(bincount(data, 9, {.axis = 0}).read(0), counts);
    EXPECT_EQ(bincount(data, 9, data, {.axis = 0}).read(0), weights);
    EXPECT_EQ(median(data, {.axis = 0}).read(0), medians);
    EXPECT_EQ(median(lazy(data) + 0U, {.axis = 0}).read(0), medians);
    Buffer<float> recorded(columns);
    CommandGraph graph = record([&] { median(recorded, data, {.axis = 0}); });
    graph.submit();
    EXPECT_EQ(recorded.read(0), medians);
}

}  // namespace
}  // namespace volley
