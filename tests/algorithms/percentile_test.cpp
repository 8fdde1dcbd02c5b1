// percentile() and median() against sorts on the host.
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/percentile.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <thread>

namespace volley {
namespace {

using Method = PercentileMethod;

/// NumPy's percentile of sorted numbers, in f64.
template <class T>
double percentile_of(const std::vector<T>& sorted, double q, Method method) {
    const double last = static_cast<double>(sorted.size() - 1);
    double position = q / 100 * last;
    if (std::abs(position - std::round(position)) <= last * 0x1p-52) position = std::round(position);
    const double below = std::floor(position), t = position - below;
    const auto at = [&](double rank) {
        return static_cast<double>(sorted[static_cast<std::size_t>(std::min(rank, last))]);
    };
    const double a = at(below), b = at(below + (t > 0 ? 1 : 0));
    switch (method) {
        case Method::Lower: return a;
        case Method::Higher: return b;
        case Method::Nearest: return at(std::nearbyint(position));
        case Method::Midpoint: return a + (b - a) / 2;
        default: return a == b ? a : a + (b - a) * t;
    }
}

std::vector<float> normal_numbers(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> distribution;
    std::vector<float> values(count);
    for (float& value : values) value = distribution(random);
    return values;
}

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<double>& expected, double error = 1e-6) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto value = static_cast<double>(got[i]);
        if (std::isnan(expected[i])) {
            EXPECT_TRUE(std::isnan(value)) << i;
        } else if (std::isinf(expected[i])) {
            EXPECT_EQ(value, expected[i]) << i;
        } else {
            EXPECT_NEAR(value, expected[i], error * std::max(1.0, std::abs(expected[i]))) << i;
        }
    }
}

template <class T>
std::vector<double> percentiles_of(std::vector<T> values, const std::vector<double>& percents,
                                   Method method) {
    std::sort(values.begin(), values.end());
    std::vector<double> result;
    for (const double q : percents) result.push_back(percentile_of(values, q, method));
    return result;
}

VOLLEY_DEVICE_TEST(Percentile, SelectsFromRowsOfAllSizes) {
    const std::vector<double> percents = {0, 100, 25, 33.3, 50};
    for (const std::size_t n : {1, 2, 3, 31, 64, 65, 1000, 9001}) {
        const std::vector<float> x = normal_numbers(n, 1);
        expect_near(percentile(as_buffer(x), percents).read(0), percentiles_of(x, percents, Method::Linear));
        expect_near(median(as_buffer(x)).read(0), percentiles_of(x, {50}, Method::Linear));
    }
}

VOLLEY_DEVICE_TEST(Percentile, HasTheMethodsOfNumPy) {
    const std::vector<double> percents = {0, 10, 12.5, 25, 30, 37.5, 50, 62.5, 99, 100};
    const std::vector<float> x = normal_numbers(5, 2);
    for (const Method method :
         {Method::Linear, Method::Lower, Method::Higher, Method::Nearest, Method::Midpoint}) {
        for (const RankTuning& tuning : {RankTuning{}, RankTuning{.row = 1, .strip = 3}}) {
            expect_near(percentile(as_buffer(x), percents, {.method = method, .tuning = tuning}).read(0),
                        percentiles_of(x, percents, method));
        }
    }
    // The position of 10% of 10 intervals is 1, although 0.1 is not a double.
    const Buffer<float> eleven = as_buffer({0.F, 1.F, 2.F, 3.F, 4.F, 5.F, 6.F, 7.F, 8.F, 9.F, 10.F});
    const std::vector<double> tenths = {10, 20, 30, 40, 60, 70, 80, 90};
    for (const Method method : {Method::Lower, Method::Higher}) {
        EXPECT_EQ(percentile(eleven, tenths, {.method = method}).read(0),
                  (std::vector<float>{1, 2, 3, 4, 6, 7, 8, 9}));
    }
}

VOLLEY_DEVICE_TEST(Percentile, SelectsFromLongRows) {
    const std::vector<double> percents = {0, 50, 99.9};
    for (const std::size_t n : {1, 2, 257, 20'011}) {
        for (const bool is_uneven : {false, true}) {
            std::vector<float> x = normal_numbers(3 * n, 3);
            if (is_uneven) {
                for (std::size_t i = 0; i < x.size(); i += 2) x[i] = 0.25F;  // half of them are equal
            }
            const Buffer<float> rows = as_buffer(x, Shape{3, static_cast<std::int64_t>(n)});
            const std::vector<float> got =
                percentile(rows, percents, {.axis = 1, .tuning = {.row = 1}}).read(0);
            std::vector<double> expected(9);
            for (std::size_t r = 0; r < 3; ++r) {
                const auto begin = x.begin() + static_cast<std::ptrdiff_t>(r * n);
                const std::vector<double> row =
                    percentiles_of(std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(n)),
                                   percents, Method::Linear);
                for (std::size_t t = 0; t < 3; ++t) expected[t * 3 + r] = row[t];
            }
            expect_near(got, expected);
        }
    }
}

VOLLEY_DEVICE_TEST(Percentile, HandlesNaN) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const std::vector<float> rows = {3,   nan,  1, 2,   nan,  -nan, nan, nan,
                                     inf, -inf, 5, inf, -nan, 7,    inf, -inf};
    const Buffer<float> x = as_buffer(rows, Shape{4, 4});
    for (const RankTuning& tuning : {RankTuning{}, RankTuning{.row = 1}}) {
        expect_near(median(x, {.axis = 1, .tuning = tuning}).read(0), {NAN, NAN, INFINITY, NAN});
        const std::vector<float> got = median(x, {.axis = 1, .ignore_nan = true, .tuning = tuning}).read(0);
        EXPECT_EQ(got[0], 2);
        EXPECT_TRUE(std::isnan(got[1]));
        EXPECT_EQ(got[2], inf);
        EXPECT_EQ(got[3], 7);
    }
    EXPECT_EQ(percentile(as_buffer({inf, inf, -inf, inf}), {50, 40}).read(0), (std::vector<float>{inf, inf}));
}

VOLLEY_DEVICE_TEST(Percentile, TakesAllTypes) {
    std::mt19937 random(4);
    every_type<u8, i8, u16, i16, u32, i32, u64, i64>([&]<class T>() {
        std::vector<T> x(300);
        for (T& value : x) value = static_cast<T>(random() * 0x1'0000'0001ULL);
        // Long rows of one type for each number of digits.
        constexpr bool both = std::is_signed_v<T>;
        for (const std::uint32_t row :
             both ? std::vector<std::uint32_t>{0, 1} : std::vector<std::uint32_t>{0})
            expect_near(percentile(as_buffer(x), {0, 31, 50}, {.tuning = {.row = row}}).read(0),
                        percentiles_of(x, {0, 31, 50}, Method::Linear));
    });
    // Methods that select an element keep its type.
    std::vector<i32> numbers(301);
    for (i32& value : numbers) value = static_cast<i32>(random());
    Buffer<i32> exact(1);
    percentile(exact, as_buffer(numbers), {40}, {.method = Method::Nearest});
    std::sort(numbers.begin(), numbers.end());
    EXPECT_EQ(exact.read(0)[0], numbers[120]);
    each_type<double>([&]<class T>() {
        const std::vector<float> floats = normal_numbers(301, 5);
        const std::vector<T> x(floats.begin(), floats.end());
        expect_near(percentile(as_buffer(x), {12.34, 33.3, 50}).read(0),
                    percentiles_of(x, {12.34, 33.3, 50}, Method::Linear), 1e-13);
    });
    const std::vector<half> halves = {half(1.5F), half(-2.F), half(0.25F), half(8.F)};
    EXPECT_EQ(static_cast<float>(median(as_buffer(halves)).read(0)[0]), 0.875F);
    EXPECT_EQ(median(as_buffer({true, false, true})).read(0)[0], 1.F);
}

// The five percentiles of katsdpsigproc.
VOLLEY_DEVICE_TEST(Percentile, SelectsFiveAlongAnyAxis) {
    const Shape shape{3, 4, 5, 2, 3};
    const std::vector<float> values = normal_numbers(360, 6);
    const Buffer<float> x = as_buffer(values, shape);
    const std::vector<double> percents = {0, 100, 25, 75, 50};
    for (int axis = -1; axis < 5; ++axis) {
        const int k = axis < 0 ? axis + 5 : axis;
        const auto step = static_cast<std::size_t>(row_major_strides(shape)[k]);
        const auto length = static_cast<std::size_t>(shape[k]);
        const std::size_t rows = values.size() / length;
        std::vector<double> expected(5 * rows);
        std::size_t row = 0;
        for (std::size_t first = 0; first < values.size(); ++first) {
            if (first / step % length != 0) continue;
            std::vector<float> elements;
            for (std::size_t i = 0; i < length; ++i) elements.push_back(values[first + i * step]);
            const std::vector<double> five = percentiles_of(elements, percents, Method::Lower);
            for (std::size_t t = 0; t < 5; ++t) expected[t * rows + row] = five[t];
            ++row;
        }
        const Buffer<float> got = percentile(x, percents, {.axis = axis, .method = Method::Lower});
        EXPECT_EQ(got.shape()[0], 5);
        expect_near(got.read(0), expected, 0);
        const Buffer<float> kept =
            percentile(x, percents, {.axis = axis, .method = Method::Lower, .keepdims = true});
        EXPECT_EQ(kept.shape().rank(), 6);
        EXPECT_EQ(kept.shape()[k + 1], 1);
        EXPECT_EQ(kept.read(0), got.read(0));
    }
    EXPECT_EQ(median(x).shape().rank(), 0);
    EXPECT_EQ(median(x, {.axis = 2}).shape(), (Shape{3, 4, 2, 3}));
}

VOLLEY_DEVICE_TEST(Percentile, SelectsManyAtOnce) {
    std::vector<float> x(101);
    std::vector<double> percents;
    std::vector<float> expected;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101);
    for (int q = 100; q >= 0; q -= 3) {
        percents.push_back(q);
        expected.push_back(static_cast<float>(q));
    }
    EXPECT_EQ(percentile(as_buffer(x), percents).read(0), expected);
}

VOLLEY_DEVICE_TEST(Percentile, TakesViewsMapsAndStoreMaps) {
    const std::vector<float> values = normal_numbers(12 * 34, 7);
    const Buffer<float> whole = as_buffer(values, Shape{12, 34});
    const Buffer<float> part = whole.sub({slice(1, 12, 2), slice(2, 34, 3)});
    std::vector<double> expected;
    const std::vector<float> elements = part.read(0);
    for (std::size_t r = 0; r < 6; ++r) {
        const auto begin = elements.begin() + static_cast<std::ptrdiff_t>(r * 11);
        expected.push_back(percentiles_of(std::vector<float>(begin, begin + 11), {50}, Method::Linear)[0]);
    }
    Buffer<float> out(Shape{6}, {.padded_shape = {8}});
    for (const RankTuning& tuning : {RankTuning{}, RankTuning{.row = 1}}) {
        median(out, part, {.axis = 1, .tuning = tuning});
        expect_near(out.read(0), expected);
    }
    Buffer<float> doubled(Shape{6});
    const auto to = store_map([](Value<u32> i, Value<float> x, Buff<float> o) { o[i] = x * 2.F; });
    median(to(doubled), lazy(part) * 0.5F, {.axis = -1});
    expect_near(doubled.read(0), expected);
}

VOLLEY_DEVICE_TEST(Percentile, RunsInGraphs) {
    const std::vector<float> values = normal_numbers(700, 8);
    const Buffer<float> data = as_buffer(values, Shape{7, 100});
    Buffer<float> out(7);
    const auto scaled = map([](Value<u32> i, Buff<const float> x, Const<float> s) { return x[i] * s; });
    CommandGraph graph = record([&] { median(out, scaled(data, dyn<float>("s")), {.axis = 1}); });
    graph.bind("s", {3.F, 1.F});
    graph.submit({.instances = 2});
    EXPECT_EQ(out.read(0), median(data, {.axis = 1}).read(0));
    CommandGraph long_rows =
        record([&] { median(out, scaled(data, dyn<float>("s")), {.axis = 1, .tuning = {.row = 1}}); });
    long_rows.bind("s", {-1.F, 1.F});
    long_rows.submit({.instances = 2});
    EXPECT_EQ(out.read(0), median(data, {.axis = 1}).read(0));
}

VOLLEY_DEVICE_TEST(Percentile, RunsInSeveralThreads) {
    const Buffer<float> data = as_buffer(normal_numbers(2000, 9), Shape{20, 100});
    const std::vector<float> expected = median(data, {.axis = 1}).read(0);
    const Context context = current_context();
    std::vector<float> results[2];
    std::vector<std::thread> threads;
    for (std::vector<float>& result : results) {
        threads.emplace_back([&] {
            const ContextScope scope = context.use();
            for (int run = 0; run < 5; ++run) result = median(data, {.axis = 1}).read(0);
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::vector<float>& result : results) EXPECT_EQ(result, expected);
}

VOLLEY_DEVICE_TEST(Percentile, RefusesBadInput) {
    using testing::error_of;
    using testing::expect_contains;
    const Buffer<i32> data = as_buffer({3, 1, 2});
    Buffer<float> out(1);
    out.fill(7.F);
    for (const double q : {-0.1, 100.5, static_cast<double>(NAN)})
        error_of(ErrorCode::InvalidArgument, [&] { percentile(out, data, {q}); });
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(percentile(data, {})); });
    error_of(ErrorCode::IndexError, [&] { static_cast<void>(median(data, {.axis = 1})); });
    error_of(ErrorCode::SizeMismatch, [&] { percentile(out, data, {1, 2}); });
    error_of(ErrorCode::TypeMismatch, [&] { percentile(Buffer<i32>(1), data, {50}); });
    error_of(ErrorCode::InvalidView, [&] { percentile(out, out, {50}); });
    expect_contains(
        error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(median(Buffer<float>(0))); }),
        "no percentiles");
    EXPECT_EQ(median(Buffer<float>(Shape{0, 3}), {.axis = 1}).read(0), std::vector<float>());
    const Buffer<vec2> points(3);
    expect_contains(
        error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(detail::medians(points, {})); }),
        "no order");
    EXPECT_EQ(out.read(0), std::vector<float>{7}) << "nothing was written";
}

}  // namespace
}  // namespace volley
