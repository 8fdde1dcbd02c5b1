// sort(), argsort() and sort_by_key() against std::stable_sort.
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/sort.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

namespace volley {
namespace {

/// The order that sort.hpp documents.
template <class T>
bool comes_before(const T& a, const T& b) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
        const int nan_a = std::isnan(a) ? 1 + std::signbit(a) : 0;
        const int nan_b = std::isnan(b) ? 1 + std::signbit(b) : 0;
        if (nan_a != nan_b) return nan_a < nan_b;
        if (nan_a != 0) return false;
        if (a == b) return std::signbit(a) && !std::signbit(b);
    }
    return a < b;
}

template <class T>
std::vector<u32> stable_order(const std::vector<T>& x, bool descending = false) {
    std::vector<u32> order(x.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) {
        return descending ? comes_before(x[b], x[a]) : comes_before(x[a], x[b]);
    });
    return order;
}

template <class T>
std::vector<T> gathered(const std::vector<T>& x, const std::vector<u32>& order) {
    std::vector<T> result;
    for (const u32 i : order) result.push_back(x[i]);
    return result;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
std::vector<T> random_keys(std::size_t count, std::mt19937& random, u64 limit = 0) {
    std::vector<T> keys(count);
    for (T& key : keys) {
        const u64 bits = u64{random()} << 32U | random();
        if constexpr (std::is_floating_point_v<T>) {
            key = static_cast<T>(static_cast<double>(bits) / 1e18 - 9);
        } else {
            key = static_cast<T>(limit == 0 ? bits : bits % limit);
        }
    }
    return keys;
}

template <class T>
void expect_sorts(const std::vector<T>& keys, const SortOptions& options = {}) {
    const Buffer<T> x = as_buffer(keys);
    const std::vector<u32> order = stable_order(keys, options.descending);
    EXPECT_TRUE(same_bits(sort(x, options).read(0), gathered(keys, order))) << keys.size();
    EXPECT_EQ(argsort(x, options).read(0), order) << keys.size();
}

VOLLEY_DEVICE_TEST(Sort, OrdersNumbersOfAllSizes) {
    std::mt19937 random(1);
    for (const std::size_t n : {0, 1, 2, 3, 31, 64, 257, 1000, 4099}) {
        expect_sorts(random_keys<u32>(n, random));
        expect_sorts(random_keys<i32>(n, random), {.descending = true});
        expect_sorts(random_keys<float>(n, random));
    }
    expect_sorts(random_keys<u32>(20'011, random));
    expect_sorts(random_keys<u32>(20'011, random, 300));
}

VOLLEY_DEVICE_TEST(Sort, KeepsTheOrderOfEqualKeys) {
    std::mt19937 random(2);
    for (const bool descending : {false, true}) {
        expect_sorts(random_keys<u32>(3000, random, 7), {.descending = descending});
        expect_sorts(std::vector<i32>(3000, -5), {.descending = descending});
        expect_sorts(std::vector<float>(3000, 0.0F), {.descending = descending});
    }
}

// All shapes are right on every device.
VOLLEY_DEVICE_TEST(Sort, IsTheSameForAllTunings) {
    std::mt19937 random(3);
    const std::vector<u32> even = random_keys<u32>(5003, random);
    std::vector<u32> uneven = random_keys<u32>(5003, random, 1000);
    uneven[77] = 0x8000'0000U;
    for (const SortTuning& tuning : std::initializer_list<SortTuning>{
             {.lanes = 1, .strip = 100, .segment = 1},
             {.lanes = 4, .strip = 333, .segment = 1, .digit_bits = 5},
             {.lanes = 8, .segment = 1, .digit_bits = 7},
             {.lanes = 1, .segment = 6000, .digit_bits = 11},
             {.lanes = 4, .segment = 6000, .digit_bits = 4},
             {.lanes = 1, .strip = 1000, .segment = 1, .bucketed = 1000},
         }) {
        expect_sorts(even, {.tuning = tuning});
        expect_sorts(uneven, {.tuning = tuning});
    }
}

VOLLEY_DEVICE_TEST(Sort, OrdersSpecialFloats) {
    using Limits = std::numeric_limits<float>;
    const float nan = Limits::quiet_NaN(), inf = Limits::infinity();
    std::vector<float> keys = {1,
                               -0.0F,
                               nan,
                               -inf,
                               0.0F,
                               -nan,
                               3,
                               -3,
                               inf,
                               Limits::denorm_min(),
                               -Limits::denorm_min(),
                               -0.0F,
                               Limits::lowest(),
                               Limits::max(),
                               nan,
                               0.0F};
    const float payload = std::bit_cast<float>(0x7FC1'2345U);
    keys.push_back(payload);
    const std::vector<float> sorted = sort(as_buffer(keys)).read(0);
    const std::vector<float> expected = {-inf,
                                         Limits::lowest(),
                                         -3,
                                         -Limits::denorm_min(),
                                         -0.0F,
                                         -0.0F,
                                         0.0F,
                                         0.0F,
                                         Limits::denorm_min(),
                                         1,
                                         3,
                                         Limits::max(),
                                         inf,
                                         nan,
                                         nan,
                                         payload,
                                         -nan};
    EXPECT_TRUE(same_bits(sorted, expected));
    std::vector<float> reversed(expected.rbegin(), expected.rend());
    EXPECT_TRUE(same_bits(sort(as_buffer(keys), {.descending = true}).read(0), reversed));
}

VOLLEY_DEVICE_TEST(Sort, OrdersKeysOfAllTypes) {
    std::mt19937 random(4);
    every_type<u8, i8, u16, i16, u32, i32, u64, i64>([&]<class T>() {
        expect_sorts(random_keys<T>(1500, random));
        expect_sorts(random_keys<T>(1500, random), {.descending = true});
    });
    each_type<double>([&]<class T>() {
        expect_sorts(random_keys<T>(1500, random));
        expect_sorts(std::vector<T>{0.0, -0.0, NAN, -NAN, 1, -1, INFINITY, -INFINITY, 1e300, -1e300});
    });
    std::vector<half> halves(1500);
    for (std::size_t i = 0; i < halves.size(); ++i) {
        const auto bits = static_cast<u16>(random());
        halves[i] = std::bit_cast<half>(bits);
    }
    std::vector<half> sorted = halves;
    std::stable_sort(sorted.begin(), sorted.end(), [](half a, half b) {
        const auto order = [](half x) {
            const u16 bits = std::bit_cast<u16>(x);
            const u16 flipped = static_cast<u16>((bits & 0x8000U) != 0 ? ~bits : bits | 0x8000U);
            return static_cast<u16>(flipped - 0x3FFU);
        };
        return order(a) < order(b);
    });
    EXPECT_TRUE(same_bits(sort(as_buffer(halves)).read(0), sorted));
    const Buffer<bool> flags = as_buffer({true, false, true, true, false});
    EXPECT_EQ(sort(flags).read(0), (std::vector<bool>{false, false, true, true, true}));
    EXPECT_EQ(argsort(flags, {.descending = true}).read(0), (std::vector<u32>{0, 2, 3, 1, 4}));
}

struct SortedItem {
    u32 id;
    float weight[5];
};
VOLLEY_STRUCT(SortedItem, id, weight)

VOLLEY_DEVICE_TEST(Sort, MovesValuesWithTheirKeys) {
    std::mt19937 random(5);
    const std::vector<i32> keys = random_keys<i32>(2500, random, 500);
    const std::vector<u32> order = stable_order(keys);
    std::vector<SortedItem> items(keys.size());
    std::vector<complex<float>> numbers(keys.size());
    std::vector<u8> bytes(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
        items[i] = {static_cast<u32>(i), {1, 2, static_cast<float>(i)}};
        numbers[i] = {static_cast<float>(i), -1};
        bytes[i] = static_cast<u8>(i);
    }
    const auto check = [&](const auto& values) {
        const auto got = sort_by_key(as_buffer(keys), as_buffer(values));
        EXPECT_EQ(got.keys.read(0), gathered(keys, order));
        EXPECT_TRUE(same_bits(got.values.read(0), gathered(values, order)));
    };
    check(items);  // gathered
    check(numbers);
    check(bytes);
    check(keys);
    Buffer<SortedItem> in_place = as_buffer(items);
    Buffer<i32> key_buffer = as_buffer(keys);
    sort_by_key(key_buffer, in_place, key_buffer, in_place);
    EXPECT_TRUE(same_bits(in_place.read(0), gathered(items, order)));
    EXPECT_EQ(key_buffer.read(0), gathered(keys, order));
}

VOLLEY_DEVICE_TEST(Sort, OrdersEachRowAlongAnyAxis) {
    std::mt19937 random(6);
    const Shape shape{3, 5, 2, 7, 4};
    const std::vector<float> values = random_keys<float>(840, random);
    const Buffer<float> x = as_buffer(values, shape);
    for (int axis = -1; axis < 5; ++axis) {
        const int k = axis < 0 ? axis + 5 : axis;
        std::vector<float> expected = values;
        std::vector<u32> order(values.size());
        const auto length = static_cast<std::size_t>(shape[k]);
        const auto step = static_cast<std::size_t>(row_major_strides(shape)[k]);
        for (std::size_t first = 0; first < values.size(); ++first) {
            if (first / step % length != 0) continue;
            std::vector<float> row;
            for (std::size_t i = 0; i < length; ++i) row.push_back(values[first + i * step]);
            const std::vector<u32> sorted = stable_order(row, true);
            for (std::size_t i = 0; i < length; ++i) {
                expected[first + i * step] = row[sorted[i]];
                order[first + i * step] = sorted[i];
            }
        }
        EXPECT_EQ(sort(x, {.axis = axis, .descending = true}).read(0), expected) << axis;
        EXPECT_EQ(argsort(x, {.axis = axis, .descending = true}).read(0), order) << axis;
    }
}

VOLLEY_DEVICE_TEST(Sort, TakesViewsMapsAndStoreMaps) {
    std::mt19937 random(7);
    const std::vector<i32> values = random_keys<i32>(12 * 34, random);
    const Buffer<i32> whole = as_buffer(values, Shape{12, 34});
    const Buffer<i32> part = whole.sub({slice(1, 12, 2), slice(2, 34, 3)});
    Buffer<i32> out(part.shape(), {.padded_shape = {8, 16}});
    sort(out, part);
    std::vector<i32> expected = part.read(0);
    for (std::size_t r = 0; r < 6; ++r) {
        const auto row = expected.begin() + static_cast<std::ptrdiff_t>(r * 11);
        std::sort(row, row + 11);
    }
    EXPECT_EQ(out.read(0), expected);
    sort(part, part);  // in place, strided
    EXPECT_EQ(part.read(0), expected);
    const auto negated = map([](Value<u32> i, Buff<const i32> x) { return -(x[i] >> 1); });
    const Buffer<i32> flat = as_buffer(values);
    Buffer<i32> doubled(flat.shape());
    const auto to = store_map([](Value<u32> i, Value<i32> x, Buff<i32> o) { o[i] = x * 2; });
    sort(to(doubled), negated(flat));
    std::vector<i32> halves;
    for (const i32 x : values) halves.push_back(-(x >> 1));
    std::sort(halves.begin(), halves.end());
    for (i32& x : halves) x = static_cast<i32>(static_cast<u32>(x) * 2U);
    EXPECT_EQ(doubled.read(0), halves);
    // A map that reads its output at other elements.
    Buffer<i32> data = as_buffer(values);
    const u32 last = static_cast<u32>(values.size() - 1);
    const auto reversed = map([](Value<u32> i, Buff<const i32> x, Const<u32> n) { return x[n - i]; });
    sort(data, reversed(data, last));
    std::vector<i32> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(data.read(0), sorted);
}

VOLLEY_DEVICE_TEST(Sort, RunsInGraphs) {
    std::mt19937 random(8);
    const std::vector<i32> values = random_keys<i32>(700, random, 1000);
    const Buffer<i32> data = as_buffer(values);
    Buffer<i32> out(700);
    const auto scaled = map([](Value<u32> i, Buff<const i32> x, Const<i32> s) { return x[i] * s; });
    CommandGraph graph = record([&] { sort(out, scaled(data, dyn<i32>("s"))); });
    graph.bind("s", {1, -1});
    graph.submit({.instances = 2});
    std::vector<i32> expected;
    for (const i32 x : values) expected.push_back(-x);
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(out.read(0), expected);
}

struct SortedStar {
    float brightness;
    u32 number;
};
VOLLEY_STRUCT(SortedStar, brightness, number)

std::vector<SortedStar> random_stars(std::size_t count, std::mt19937& random, u32 limit) {
    std::vector<SortedStar> stars;
    for (std::size_t i = 0; i < count; ++i)
        stars.push_back({static_cast<float>(random() % limit) - 3, static_cast<u32>(i)});
    return stars;
}

auto dimmer() {
    return [](Value<SortedStar> a, Value<SortedStar> b) { return a.brightness < b.brightness; };
}

std::vector<u32> order_of_stars(const std::vector<SortedStar>& stars, bool descending) {
    std::vector<float> brightness;
    for (const SortedStar& star : stars) brightness.push_back(star.brightness);
    return stable_order(brightness, descending);
}

void expect_sorts_stars(const std::vector<SortedStar>& stars, const SortOptions& options = {}) {
    const Buffer<SortedStar> x = as_buffer(stars);
    const std::vector<u32> order = order_of_stars(stars, options.descending);
    EXPECT_TRUE(same_bits(sort(x, dimmer(), options).read(0), gathered(stars, order))) << stars.size();
    EXPECT_EQ(argsort(x, dimmer(), options).read(0), order) << stars.size();
}

VOLLEY_DEVICE_TEST(CompareSort, OrdersStructsOfAllSizesStably) {
    std::mt19937 random(11);
    for (const std::size_t n : {0, 1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 257, 1000, 1025, 4099}) {
        expect_sorts_stars(random_stars(n, random, 1'000'000));
        expect_sorts_stars(random_stars(n, random, 5), {.descending = true});
    }
    expect_sorts_stars(random_stars(20'011, random, 400));
}

VOLLEY_DEVICE_TEST(CompareSort, IsTheSameForAllTunings) {
    std::mt19937 random(12);
    const std::vector<SortedStar> stars = random_stars(3001, random, 100);
    for (const SortTuning& tuning : std::initializer_list<SortTuning>{
             {.lanes = 1, .strip = 1, .segment = 1},
             {.lanes = 3, .strip = 7, .segment = 4},
             {.lanes = 8, .strip = 1000, .segment = 16},
             {.lanes = 1, .strip = 64, .segment = 300},
             {.lanes = 2, .strip = 4096, .segment = 4096},
         })
        expect_sorts_stars(stars, {.tuning = tuning});
}

VOLLEY_DEVICE_TEST(CompareSort, OrdersRowsAlongAnyAxisAndMovesValues) {
    std::mt19937 random(13);
    const std::vector<i32> keys = random_keys<i32>(std::size_t{13} * 40 * 3, random, 50);
    std::vector<SortedItem> items(keys.size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = {static_cast<u32>(i), {1, 2}};
    const Shape shape{13, 40, 3};
    const auto closer_to_20 = [](Value<i32> a, Value<i32> b) { return abs(a - 20) < abs(b - 20); };
    for (int axis = 0; axis < 3; ++axis) {
        std::vector<i32> expected = keys;
        std::vector<SortedItem> moved = items;
        const auto length = static_cast<std::size_t>(shape[axis]);
        const auto step = static_cast<std::size_t>(row_major_strides(shape)[axis]);
        for (std::size_t first = 0; first < keys.size(); ++first) {
            if (first / step % length != 0) continue;
            std::vector<std::size_t> order(length);
            for (std::size_t i = 0; i < length; ++i) order[i] = first + i * step;
            std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return std::abs(keys[a] - 20) < std::abs(keys[b] - 20);
            });
            for (std::size_t i = 0; i < length; ++i) {
                expected[first + i * step] = keys[order[i]];
                moved[first + i * step] = items[order[i]];
            }
        }
        const auto got =
            sort_by_key(as_buffer(keys, shape), as_buffer(items, shape), closer_to_20, {.axis = axis});
        EXPECT_EQ(got.keys.read(0), expected) << axis;
        EXPECT_TRUE(same_bits(got.values.read(0), moved)) << axis;
        Buffer<i32> in_place = as_buffer(keys, shape);
        sort(in_place, in_place, closer_to_20, {.axis = axis});
        EXPECT_EQ(in_place.read(0), expected) << axis;
    }
}

VOLLEY_DEVICE_TEST(CompareSort, TakesMapsAndRunsInGraphs) {
    std::mt19937 random(14);
    const std::vector<float> values = random_keys<float>(900, random);
    const Buffer<float> data = as_buffer(values);
    Buffer<float> out(900);
    const auto scaled = map([](Value<u32> i, Buff<const float> x, Const<float> s) { return x[i] * s; });
    const auto greater = [](Value<float> a, Value<float> b) { return a > b; };
    CommandGraph graph = record([&] { sort(out, scaled(data, dyn<float>("s")), greater); });
    graph.bind("s", {2.F, -1.F});
    graph.submit({.instances = 2});
    std::vector<float> expected;
    for (const float x : values) expected.push_back(-x);
    std::sort(expected.begin(), expected.end(), std::greater<>());
    EXPECT_EQ(out.read(0), expected);
}

VOLLEY_DEVICE_TEST(CompareSort, StaysInBoundsIfTheComparisonIsNoOrder) {
    std::mt19937 random(15);
    const std::vector<u32> values = random_keys<u32>(1337, random, 1000);
    const Buffer<u32> data = as_buffer(values);
    for (const bool answer : {false, true}) {
        const std::vector<u32> got = sort(data, [answer](Value<u32> a, Value<u32> b) {
                                         return (a < b) == (a == b) || answer;
                                     }).read(0);
        for (const u32 x : got) EXPECT_NE(std::find(values.begin(), values.end(), x), values.end());
    }
}

VOLLEY_DEVICE_TEST(CompareSort, ReportsWhatTheComparisonThrows) {
    const Buffer<i32> data = as_buffer({3, 1, 2});
    Buffer<i32> out = as_buffer({7, 7, 7});
    testing::error_of(ErrorCode::TraceError, [&] {
        sort(out, data, [](Value<i32> a, Value<i32> b) -> Value<bool> {
            static_cast<void>(a < b);
            throw std::runtime_error("no luck");
        });
    });
    EXPECT_EQ(out.read(0), (std::vector<i32>{7, 7, 7})) << "nothing was written";
}

VOLLEY_DEVICE_TEST(Sort, RefusesBadInput) {
    using testing::error_of;
    using testing::expect_contains;
    const Buffer<i32> data = as_buffer({3, 1, 2}), more = as_buffer({1, 2, 3, 4});
    Buffer<i32> out(3);
    out.fill(7);
    error_of(ErrorCode::IndexError, [&] { sort(out, data, {.axis = 1}); });
    error_of(ErrorCode::IndexError, [&] { static_cast<void>(sort(data, {.axis = -2})); });
    error_of(ErrorCode::SizeMismatch, [&] { sort(out, more); });
    error_of(ErrorCode::TypeMismatch, [&] { sort(Buffer<u32>(3), data); });
    error_of(ErrorCode::TypeMismatch, [&] { argsort(out, data); });
    error_of(ErrorCode::SizeMismatch, [&] { static_cast<void>(sort_by_key(data, more)); });
    error_of(ErrorCode::InvalidView, [&] { sort_by_key(out, out, data, data); });
    error_of(ErrorCode::InvalidArgument, [&] { sort(out, data, {.tuning = {.digit_bits = 12}}); });
    const Buffer<vec2> points(3);
    expect_contains(error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(sort(points)); }), "no order");
    EXPECT_EQ(out.read(0), (std::vector<i32>{7, 7, 7})) << "nothing was written";
    sort(out, data);
    EXPECT_EQ(out.read(0), (std::vector<i32>{1, 2, 3}));
}

}  // namespace
}  // namespace volley
