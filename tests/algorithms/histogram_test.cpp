// histogram() and bincount() against plain loops on the host.
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"

#include <volley/algorithms/histogram.hpp>
#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

namespace volley {
namespace {

constexpr u32 outside = ~0U;

/// The bins that even_bins() documents.
template <class F>
u32 even_bin(F x, u32 count, double low, double high) {
    const auto first = static_cast<F>(low), last = static_cast<F>(high);
    if (!(x >= first && x <= last)) return outside;
    const F place = (x - first) * static_cast<F>(count / (high - low));
    return std::min(static_cast<u32>(place), count - 1);
}

/// NumPy's bins: the last one contains its upper edge.
template <class T>
u32 edge_bin(T x, const std::vector<T>& edges) {
    const auto count = static_cast<u32>(edges.size() - 1);
    if (x == edges.back()) return count - 1;
    const auto above =
        static_cast<u32>(std::count_if(edges.begin(), edges.end(), [&](const T& edge) { return edge <= x; }));
    return above == 0 || above > count ? outside : above - 1;
}

template <class T, class W = u32, class F>
std::vector<W> counted_bins(const std::vector<T>& x, u32 count, F bin_of,
                            const std::vector<W>& weights = {}) {
    std::vector<W> bins(count);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const u32 bin = bin_of(x[i]);
        if (bin != outside) bins[bin] += weights.empty() ? W{1} : weights[i];
    }
    return bins;
}

std::vector<float> random_floats(std::size_t count, unsigned seed, float scale = 1) {
    std::mt19937 random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = (static_cast<float>(random() >> 8U) * 0x1p-23F - 1) * scale;
    return values;
}

std::vector<u32> random_bins(std::size_t count, unsigned seed, u32 limit) {
    std::mt19937 random(seed);
    std::vector<u32> values(count);
    for (u32& value : values) value = static_cast<u32>(random() % limit);
    return values;
}

VOLLEY_DEVICE_TEST(Histogram, CountsInEvenBins) {
    for (const std::size_t n : {0, 1, 2, 3, 127, 128, 1021, 40'003}) {
        const std::vector<float> x = random_floats(n, 1);
        for (const u32 count : {1U, 7U, 256U}) {
            const auto bin = [&](float v) { return even_bin(v, count, -0.5, 0.75); };
            EXPECT_EQ(histogram(as_buffer(x), even_bins(count, -0.5, 0.75)).read(0),
                      counted_bins(x, count, bin))
                << n << " elements, " << count << " bins";
        }
    }
}

VOLLEY_DEVICE_TEST(Histogram, ClosesTheLastBinAndIgnoresNaN) {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    const Buffer<float> x =
        as_buffer({0.F, -0.F, 1.F, 2.F, 3.F, 3.0001F, -0.0001F, nan, -nan, inf, -inf, 2.5F});
    EXPECT_EQ(histogram(x, even_bins(3, 0, 3)).read(0), (std::vector<u32>{2, 1, 3}));
    const Buffer<float> edges = as_buffer({0.F, 1.F, 3.F});
    EXPECT_EQ(histogram(x, edge_bins(edges)).read(0), (std::vector<u32>{2, 4}));
    const Buffer<float> all = as_buffer({-inf, 0.F, 0.F, inf});
    EXPECT_EQ(histogram(x, edge_bins(all)).read(0), (std::vector<u32>{2, 0, 8}));
}

VOLLEY_DEVICE_TEST(Histogram, CountsBetweenEdges) {
    const std::vector<float> x = random_floats(3001, 2);
    for (const std::size_t n : {2, 3, 5, 64, 65}) {
        std::vector<float> edges = random_floats(n, 3, 0.8F);
        std::sort(edges.begin(), edges.end());
        EXPECT_EQ(histogram(as_buffer(x), edge_bins(as_buffer(edges))).read(0),
                  counted_bins(x, static_cast<u32>(n - 1), [&](float v) { return edge_bin(v, edges); }))
            << n;
    }
    const std::vector<u32> keys = random_bins(999, 4, 100);
    const std::vector<u32> edges = {5, 5, 17, 60, 60};
    EXPECT_EQ(histogram(as_buffer(keys), edge_bins(as_buffer(edges))).read(0),
              counted_bins(keys, 4, [&](u32 v) { return edge_bin(v, edges); }));
}

VOLLEY_DEVICE_TEST(Histogram, TakesAllTypes) {
    const std::vector<u32> keys = random_bins(1500, 5, 120);
    std::vector<u32> low(50), even(10);
    for (const u32 key : keys) {
        if (key < 50) ++low[key];
        if (key <= 100) ++even[std::min(key / 10, 9U)];
    }
    every_type<u8, i8, u16, i16, u32, i32, u64, i64>([&]<class T>() {
        const std::vector<T> x(keys.begin(), keys.end());
        EXPECT_EQ(bincount(as_buffer(x), 50).read(0), low);
        EXPECT_EQ(histogram(as_buffer(x), even_bins(10, 0, 100)).read(0), even);
    });
    each_type<half, double>([&]<class T>() {
        std::vector<T> x;
        for (const u32 key : keys) x.push_back(static_cast<T>(static_cast<float>(key)));
        EXPECT_EQ(histogram(as_buffer(x), even_bins(10, 0, 100)).read(0), even);
    });
    EXPECT_EQ(bincount(as_buffer({-1, 0, 1, 1, -5, std::numeric_limits<i32>::min(), 2}), 2).read(0),
              (std::vector<u32>{1, 2}));
    EXPECT_EQ(bincount(as_buffer({true, false, true}), 3).read(0), (std::vector<u32>{1, 2, 0}));
}

VOLLEY_DEVICE_TEST(Histogram, AddsWeights) {
    const std::vector<u32> keys = random_bins(5003, 6, 40);
    const auto bin = [](u32 key) { return key < 37 ? key : outside; };
    const auto check = [&]<class W>(W scale) {
        std::vector<W> weights;
        for (std::size_t i = 0; i < keys.size(); ++i) weights.push_back(static_cast<W>(i % 101) * scale);
        EXPECT_EQ(bincount(as_buffer(keys), 37, as_buffer(weights)).read(0),
                  counted_bins(keys, 37, bin, weights));
    };
    check(u32{3});
    check(i32{-7});
    check(0.5F);  // all sums are exact
    each_type<u64, double>([&]<class T>() { check(static_cast<T>(1U << 30U)); });
}

VOLLEY_DEVICE_TEST(Histogram, GivesEqualSumsOfFloatsInEachRun) {
    const std::vector<u32> keys = random_bins(30'011, 7, 50);
    const std::vector<float> weights = random_floats(keys.size(), 8, 1e3F);
    const Buffer<u32> key_buffer = as_buffer(keys);
    const Buffer<float> weight_buffer = as_buffer(weights);
    for (const u32 count : {50U, 100'000U}) {
        const std::vector<float> first = bincount(key_buffer, count, weight_buffer).read(0);
        for (int run = 0; run < 2; ++run)
            EXPECT_EQ(bincount(key_buffer, count, weight_buffer).read(0), first);
        std::vector<double> exact(50);
        for (std::size_t i = 0; i < keys.size(); ++i) exact[keys[i]] += static_cast<double>(weights[i]);
        for (std::size_t b = 0; b < 50; ++b) EXPECT_NEAR(first[b], exact[b], 1.0) << b;
    }
}

VOLLEY_DEVICE_TEST(Histogram, HasManyBins) {
    const std::vector<u32> keys = random_bins(3001, 9, 300'000);
    std::vector<float> weights(keys.size());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7);
    for (const u32 count : {5000U, 300'000U}) {
        const auto bin = [&](u32 key) { return key < count ? key : outside; };
        EXPECT_EQ(bincount(as_buffer(keys), count).read(0), counted_bins(keys, count, bin)) << count;
        EXPECT_EQ(bincount(as_buffer(keys), count, as_buffer(weights)).read(0),
                  counted_bins(keys, count, bin, weights))
            << count;
    }
}

VOLLEY_DEVICE_TEST(Histogram, IsTheSameForAllTunings) {
    const std::vector<u32> keys = random_bins(5003, 10, 150);
    const auto bin = [](u32 key) { return key < 100 ? key : outside; };
    const std::vector<u32> expected = counted_bins(keys, 100, bin);
    for (const HistogramTuning& tuning : std::initializer_list<HistogramTuning>{
             {.lanes = 1, .strip = 1},
             {.lanes = 1, .strip = 1001, .table_bytes = 200, .passes = 1000},
             {.lanes = 4, .strip = 333},
             {.lanes = 16, .strip = 2000, .table_bytes = 3000, .passes = 1000},
             {.lanes = 16, .table_bytes = 100, .passes = 3},
         }) {
        EXPECT_EQ(bincount(as_buffer(keys), 100, {.tuning = tuning}).read(0), expected);
    }
}

VOLLEY_DEVICE_TEST(Histogram, CountsRowsAlongAnyAxis) {
    const Shape shape{3, 2, 5, 4, 7};
    const std::vector<u32> keys = random_bins(840, 11, 6);
    const Buffer<u32> x = as_buffer(keys, shape);
    for (int axis = -1; axis < 5; ++axis) {
        const int k = axis < 0 ? axis + 5 : axis;
        std::vector<std::int64_t> extents(shape.begin(), shape.end());
        extents[static_cast<std::size_t>(k)] = 5;
        const Shape result_shape{std::span<const std::int64_t>(extents)};
        std::vector<u32> expected(static_cast<std::size_t>(result_shape.elements()));
        const auto step = static_cast<std::size_t>(row_major_strides(shape)[k]);
        const auto length = static_cast<std::size_t>(shape[k]);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            const std::size_t outer = i / (step * length), inner = i % step;
            if (keys[i] < 5) ++expected[(outer * 5 + keys[i]) * step + inner];
        }
        const Buffer<u32> got = bincount(x, 5, {.axis = axis});
        EXPECT_EQ(got.shape(), result_shape);
        EXPECT_EQ(got.read(0), expected) << axis;
    }
    const std::vector<u32> long_rows = random_bins(3 * 20'000, 12, 300);
    std::vector<u32> expected(3 * 300);
    for (std::size_t i = 0; i < long_rows.size(); ++i) ++expected[i / 20'000 * 300 + long_rows[i]];
    EXPECT_EQ(bincount(as_buffer(long_rows, Shape{3, 20'000}), 300, {.axis = 1}).read(0), expected);
    EXPECT_EQ(bincount(Buffer<u32>(Shape{2, 0}), 3, {.axis = 1}).read(0), std::vector<u32>(6));
    EXPECT_EQ(bincount(Buffer<u32>(Shape{0, 2}), 3, {.axis = 1}).read(0), std::vector<u32>());
}

VOLLEY_DEVICE_TEST(Histogram, TakesViewsMapsAndStoreMaps) {
    const std::vector<u32> keys = random_bins(20 * 30, 13, 10);
    const Buffer<u32> whole = as_buffer(keys, Shape{20, 30});
    const Buffer<u32> part = whole.sub({slice(1, 20, 3), slice(5, 25, 2)});
    std::vector<u32> expected(10);
    for (const u32 key : part.read(0)) ++expected[key];
    EXPECT_EQ(bincount(part, 10).read(0), expected);
    const auto halved = map([](Value<u32> i, Buff<const u32> x) { return cast<float>(x[i]) * 0.5F; });
    std::vector<u32> halves(5);
    for (const u32 key : keys) ++halves[key / 2];
    EXPECT_EQ(histogram(halved(as_buffer(keys)), even_bins(5, 0, 5)).read(0), halves);
    Buffer<float> share(5);
    const auto to =
        store_map([](Value<u32> i, Value<u32> n, Buff<float> out) { out[i] = cast<float>(n) * (1.F / 512); });
    histogram(to(share), lazy(as_buffer(keys)) / 2U, key_bins(5));
    std::vector<float> shares;
    for (const u32 n : halves) shares.push_back(static_cast<float>(n) / 512);
    EXPECT_EQ(share.read(0), shares);
    Buffer<u32> padded(Shape{20, 10}, {.padded_shape = {24, 16}});
    histogram(padded, whole, key_bins(10), {.axis = 1});
    std::vector<u32> rows(200);
    for (std::size_t i = 0; i < keys.size(); ++i) ++rows[i / 30 * 10 + keys[i]];
    EXPECT_EQ(padded.read(0), rows);
}

VOLLEY_DEVICE_TEST(Histogram, RunsInGraphs) {
    const std::vector<u32> keys = random_bins(5000, 14, 100);
    const Buffer<u32> data = as_buffer(keys);
    Buffer<u32> counts(400);
    const auto scaled = map([](Value<u32> i, Buff<const u32> x, Const<u32> s) { return x[i] * s; });
    CommandGraph graph = record([&] { histogram(counts, scaled(data, dyn<u32>("s")), key_bins(400)); });
    graph.bind("s", {1U, 3U});
    graph.submit({.instances = 2});
    EXPECT_EQ(counts.read(0), counted_bins(keys, 400, [](u32 key) { return key * 3; }));
}

VOLLEY_DEVICE_TEST(Histogram, RunsInSeveralThreads) {
    const std::vector<u32> keys = random_bins(5000, 15, 64);
    const Buffer<u32> data = as_buffer(keys);
    const std::vector<u32> expected = counted_bins(keys, 64, [](u32 key) { return key; });
    const Context context = current_context();
    std::vector<u32> results[2];
    std::vector<std::thread> threads;
    for (std::vector<u32>& result : results) {
        threads.emplace_back([&] {
            const ContextScope scope = context.use();
            for (int run = 0; run < 5; ++run) result = bincount(data, 64).read(0);
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<u32>& result : results) EXPECT_EQ(result, expected);
}

VOLLEY_DEVICE_TEST(Histogram, RefusesBadInput) {
    using testing::error_of;
    using testing::expect_contains;
    const Buffer<u32> data = as_buffer({1U, 0U, 2U}), more(4);
    const Buffer<float> floats = as_buffer({1.F, 2.F});
    Buffer<u32> out(3);
    out.fill(7);
    const HistogramBins three = key_bins(3);
    error_of(ErrorCode::InvalidArgument, [] { static_cast<void>(key_bins(0)); });
    error_of(ErrorCode::InvalidArgument, [] { static_cast<void>(even_bins(0, 0, 1)); });
    error_of(ErrorCode::InvalidArgument, [] { static_cast<void>(even_bins(4, 1, 1)); });
    error_of(ErrorCode::InvalidArgument, [] { static_cast<void>(even_bins(4, 0, INFINITY)); });
    error_of(ErrorCode::InvalidArgument, [] { static_cast<void>(even_bins(4, NAN, 1)); });
    error_of(ErrorCode::InvalidArgument, [&] { histogram(out, data, three, {.tuning = {.lanes = 2000}}); });
    error_of(ErrorCode::InvalidArgument,
             [&] { static_cast<void>(histogram(floats, even_bins(4, 0, 1e300))); });
    error_of(ErrorCode::InvalidShape, [&] { static_cast<void>(edge_bins(as_buffer({1.F}))); });
    error_of(ErrorCode::IndexError, [&] { histogram(out, data, three, {.axis = 1}); });
    error_of(ErrorCode::SizeMismatch, [&] { histogram(out, data, key_bins(4)); });
    error_of(ErrorCode::SizeMismatch, [&] { histogram(out, data, three, more); });
    error_of(ErrorCode::TypeMismatch, [&] { histogram(Buffer<float>(3), data, three); });
    error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(bincount(floats, 3)); });
    error_of(ErrorCode::TypeMismatch, [&] {
        histogram(out, data, edge_bins(as_buffer({0.F, 1.F, 2.F, 3.F})));
    });
    error_of(ErrorCode::InvalidView, [&] { histogram(out, out, three); });
    const Buffer<vec2> points(3);
    expect_contains(
        error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(histogram(points, even_bins(3, 0, 1))); }),
        "no order");
    EXPECT_EQ(out.read(0), (std::vector<u32>{7, 7, 7})) << "nothing was written";
}

}  // namespace
}  // namespace volley
