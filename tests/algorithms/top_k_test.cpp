// top_k() and argtop_k() against std::stable_sort.
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/top_k.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

namespace volley {
namespace {

/// Returns the indices of the first k of the sorted elements. NaNs are greater than all numbers.
template <class T>
std::vector<u32> top_of(const std::vector<T>& x, std::size_t k, bool largest) {
    const auto less = [](T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
        }
        return a < b;
    };
    std::vector<u32> order(x.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](u32 a, u32 b) { return largest ? less(x[b], x[a]) : less(x[a], x[b]); });
    order.resize(k);
    return order;
}

template <class T>
void expect_top(const std::vector<T>& x, std::size_t k, const TopKOptions& options) {
    const std::vector<u32> order = top_of(x, k, options.largest);
    std::vector<T> values;
    for (const u32 i : order) values.push_back(x[i]);
    const auto top = top_k(as_buffer(x), static_cast<std::int64_t>(k), options);
    EXPECT_EQ(top.indices.read(0), order) << x.size() << " elements, k = " << k;
    const std::vector<T> got = top.values.read(0);
    EXPECT_EQ(std::memcmp(got.data(), values.data(), k * sizeof(T)), 0);
}

template <class T>
std::vector<T> random_elements(std::size_t count, unsigned seed, u32 limit) {
    std::mt19937 random(seed);
    std::vector<T> x(count);
    for (T& value : x) value = static_cast<T>(static_cast<T>(random() % limit) - static_cast<T>(limit / 4));
    return x;
}

constexpr TopKTuning collected{.sorted = 1, .strip = 100};

VOLLEY_DEVICE_TEST(TopK, FindsTheFirstOfRowsOfAllSizes) {
    for (const bool largest : {true, false}) {
        for (const std::size_t n : {1, 2, 3, 64, 1009})
            expect_top(random_elements<i32>(n, 1, 500), (n + 1) / 2, {.largest = largest});
        expect_top(random_elements<i32>(1009, 2, 50), 7, {.largest = largest});
        expect_top(random_elements<i32>(20'011, 3, 1000), 100, {.largest = largest});
        expect_top(random_elements<i32>(1000, 4, 3), 100, {.largest = largest, .tuning = collected});
        expect_top(std::vector<i32>(1000, 5), 9, {.largest = largest, .tuning = collected});
    }
}

VOLLEY_DEVICE_TEST(TopK, OrdersNaNAsSortDoes) {
    std::vector<float> x = random_elements<float>(100, 5, 30);
    x[17] = x[55] = std::numeric_limits<float>::quiet_NaN();
    x[3] = -std::numeric_limits<float>::infinity();
    x[97] = std::numeric_limits<float>::infinity();
    for (const TopKTuning& tuning : {TopKTuning{}, collected}) {
        expect_top(x, 8, {.tuning = tuning});
        expect_top(x, 8, {.largest = false, .tuning = tuning});
    }
    const Buffer<float> zeros = as_buffer({0.F, -0.F, 0.F, -0.F});
    EXPECT_EQ(argtop_k(zeros, 3).read(0), (std::vector<u32>{0, 2, 1}));
}

VOLLEY_DEVICE_TEST(TopK, TakesAllTypes) {
    every_type<u8, i16, i64>([&]<class T>() { expect_top(random_elements<T>(900, 6, 120), 10, {}); });
    each_type<double>([&]<class T>() { expect_top(random_elements<T>(900, 8, 5000), 10, {}); });
    EXPECT_EQ(argtop_k(as_buffer({false, true, false, true}), 3).read(0), (std::vector<u32>{1, 3, 0}));
}

VOLLEY_DEVICE_TEST(TopK, FindsRowsAlongAnyAxis) {
    const Shape shape{3, 8, 2, 9, 2};
    const std::vector<float> values = random_elements<float>(864, 9, 40);
    const Buffer<float> x = as_buffer(values, shape);
    for (const TopKTuning& tuning : {TopKTuning{}, collected}) {
        for (const int axis : {-2, 1}) {
            const int at = axis < 0 ? axis + 5 : axis;
            const auto step = static_cast<std::size_t>(row_major_strides(shape)[at]);
            const auto length = static_cast<std::size_t>(shape[at]);
            std::vector<u32> expected(values.size() / length);
            for (std::size_t first = 0; first < values.size(); ++first) {
                if (first / step % length != 0) continue;
                std::vector<float> row;
                for (std::size_t i = 0; i < length; ++i) row.push_back(values[first + i * step]);
                expected[first / (step * length) * step + first % step] = top_of(row, 1, true)[0];
            }
            const Buffer<u32> got = argtop_k(x, 1, {.axis = axis, .tuning = tuning});
            EXPECT_EQ(got.shape()[at], 1);
            EXPECT_EQ(got.read(0), expected) << axis;
        }
    }
    const std::vector<float> rows = random_elements<float>(5 * 700, 10, 100);
    const auto top = top_k(as_buffer(rows, Shape{5, 700}), 20);
    std::vector<u32> expected;
    for (std::size_t r = 0; r < 5; ++r) {
        const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(r * 700);
        for (const u32 i : top_of(std::vector<float>(begin, begin + 700), 20, true)) expected.push_back(i);
    }
    EXPECT_EQ(top.indices.read(0), expected);
}

VOLLEY_DEVICE_TEST(TopK, TakesViewsMapsAndStoreMaps) {
    const std::vector<i32> values = random_elements<i32>(40 * 40, 11, 200);
    const Buffer<i32> part = as_buffer(values, Shape{40, 40}).sub({slice(0, 40, 3), slice(3, 40)});
    Buffer<i32> out(Shape{14, 4}, {.padded_shape = {16, 8}});
    Buffer<u32> indices(Shape{14, 4});
    const auto to = store_map([](Value<u32> y, Value<u32> x, Value<u32> v, Buff<u32> o) {
                        o[y * 4U + x] = v + 1U;
                    }).over(Shape{14, 4});
    const std::vector<i32> elements = part.read(0);
    std::vector<u32> expected;
    std::vector<i32> expected_values;
    for (std::size_t r = 0; r < 14; ++r) {
        std::vector<i32> row;
        for (std::size_t i = 0; i < 37; ++i) row.push_back(-elements[r * 37 + i]);
        for (const u32 i : top_of(row, 4, false)) {
            expected.push_back(i + 1);
            expected_values.push_back(row[i]);
        }
    }
    for (const TopKTuning& tuning : {TopKTuning{}, collected}) {
        top_k(out, to(indices), lazy(part) * -1, 4, {.largest = false, .tuning = tuning});
        EXPECT_EQ(indices.read(0), expected);
        EXPECT_EQ(out.read(0), expected_values);
    }
}

VOLLEY_DEVICE_TEST(TopK, RunsInGraphs) {
    const std::vector<i32> values = random_elements<i32>(1500, 12, 10'000);
    const Buffer<i32> data = as_buffer(values);
    Buffer<u32> out(10);
    const auto scaled = map([](Value<u32> i, Buff<const i32> x, Const<i32> s) { return x[i] * s; });
    for (const TopKTuning& tuning : {TopKTuning{.sorted = 2000}, collected}) {
        CommandGraph graph =
            record([&] { argtop_k(out, scaled(data, dyn<i32>("s")), 10, {.tuning = tuning}); });
        graph.bind("s", {1, -1});
        graph.submit({.instances = 2});
        EXPECT_EQ(out.read(0), top_of(values, 10, false));
    }
}

VOLLEY_DEVICE_TEST(TopK, RefusesBadInput) {
    using testing::error_of;
    using testing::expect_contains;
    const Buffer<i32> data = as_buffer({3, 1, 2});
    Buffer<i32> values(2);
    Buffer<u32> indices(2);
    indices.fill(7);
    for (const std::int64_t k : {-1, 0, 4})
        error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(top_k(data, k)); });
    error_of(ErrorCode::IndexError, [&] { static_cast<void>(argtop_k(data, 1, {.axis = 1})); });
    error_of(ErrorCode::SizeMismatch, [&] { top_k(values, indices, data, 3); });
    error_of(ErrorCode::TypeMismatch, [&] { argtop_k(values, data, 2); });
    error_of(ErrorCode::TypeMismatch, [&] { top_k(indices, indices, data, 2); });
    const Buffer<u32> words = as_buffer({3U, 1U, 2U});
    error_of(ErrorCode::InvalidView, [&] { top_k(indices, indices, words, 2); });
    error_of(ErrorCode::InvalidView, [&] { argtop_k(words.sub(slice(0, 2)), words, 2); });
    const Buffer<vec2> points(3);
    expect_contains(error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(argtop_k(points, 1)); }),
                    "no order");
    EXPECT_EQ(indices.read(0), (std::vector<u32>{7, 7})) << "nothing was written";
}

}  // namespace
}  // namespace volley
