// merge(), merge_by_key() and searchsorted() against the standard library.
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/searchsorted.hpp>
#include <volley/algorithms/transpose.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

constexpr unsigned merge_seed = 20261120;

template <class T>
std::vector<T> sorted_numbers(std::size_t count, unsigned limit, unsigned seed, bool descending = false) {
    SCOPED_TRACE(merge_seed + seed);
    std::mt19937 random(merge_seed + seed);
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(static_cast<float>(random() % limit));
    std::sort(values.begin(), values.end());
    if (descending) std::reverse(values.begin(), values.end());
    return values;
}

/// Merges pairs of a key and the number of the element: first those of a, then those of b.
template <class T>
void expect_merges(std::size_t count_a, std::size_t count_b, const MergeOptions& options = {}) {
    SCOPED_TRACE(std::to_string(count_a) + " and " + std::to_string(count_b));
    const std::vector<T> a = sorted_numbers<T>(count_a, 60, 1, options.descending);
    const std::vector<T> b = sorted_numbers<T>(count_b, 60, 2, options.descending);
    std::vector<u32> order(count_a + count_b);
    std::iota(order.begin(), order.end(), 0U);
    const auto key = [&](u32 k) { return k < count_a ? a[k] : b[k - count_a]; };
    std::stable_sort(order.begin(), order.end(),
                     [&](u32 x, u32 y) { return options.descending ? key(y) < key(x) : key(x) < key(y); });
    std::vector<T> keys;
    for (const u32 k : order) keys.push_back(key(k));
    const auto numbers = map([](Value<u32> i, Const<u32> first) { return first + i; });
    const Buffer<T> from_a = as_buffer(a), from_b = as_buffer(b);
    EXPECT_EQ(merge(from_a, from_b, options).read(0), keys);
    const auto pairs = merge_by_key(from_a, numbers.over(Shape(count_a))(0U), from_b,
                                    numbers.over(Shape(count_b))(static_cast<u32>(count_a)), options);
    EXPECT_EQ(pairs.keys.read(0), keys);
    EXPECT_EQ(pairs.values.read(0), order);
}

VOLLEY_DEVICE_TEST(Merge, KeepsTheOrderOfEqualElements) {
    for (const auto& [a, b] : std::initializer_list<std::pair<std::size_t, std::size_t>>{{0, 0},
                                                                                         {0, 5},
                                                                                         {1, 0},
                                                                                         {1, 1},
                                                                                         {2, 7},
                                                                                         {64, 64},
                                                                                         {63, 130},
                                                                                         {1000, 3},
                                                                                         {5, 1999},
                                                                                         {10'007, 9'001}}) {
        expect_merges<int>(a, b);
        expect_merges<float>(a, b, {.descending = true});
    }
}

VOLLEY_DEVICE_TEST(Merge, TakesNumbersOfAllTypes) {
    every_type<i8, u16, u32, i64, bool>([&]<class T>() { expect_merges<T>(300, 201); });
    each_type<f16, double>([&]<class T>() { expect_merges<T>(300, 201); });
}

VOLLEY_DEVICE_TEST(Merge, IsTheSameForAllTunings) {
    for (const u32 strip : {1U, 7U, 1000U, 32768U})
        expect_merges<u32>(700, 800, {.tuning = {.strip = strip}});
}

VOLLEY_DEVICE_TEST(Merge, HasTheOrderOfSort) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const std::vector<float> a = {inf, 2, -0.F, 0, nan, -1, -inf}, b = {-0.F, nan, -nan, 0, 2, -0.F, inf};
    std::vector<float> all(a);
    all.insert(all.end(), b.begin(), b.end());
    for (const bool descending : {false, true}) {
        const Buffer<float> left = sort(as_buffer(a), {.descending = descending});
        const Buffer<float> right = sort(as_buffer(b), {.descending = descending});
        const std::vector<float> expected = sort(as_buffer(all), {.descending = descending}).read(0);
        const std::vector<float> got = merge(left, right, {.descending = descending}).read(0);
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i)
            EXPECT_EQ(std::bit_cast<u32>(got[i]), std::bit_cast<u32>(expected[i])) << i;
    }
}

VOLLEY_DEVICE_TEST(Merge, TakesAComparison) {
    std::vector<vec<int, 2>> a, b;
    for (int i = 0; i < 150; ++i) a.push_back({i / 3, i});
    for (int i = 0; i < 70; ++i) b.push_back({i / 2 * 3, 1000 + i});
    std::vector<vec<int, 2>> expected;
    const auto less_x = [](const vec<int, 2>& p, const vec<int, 2>& q) { return p.x < q.x; };
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected), less_x);
    const auto less = [](Value<vec<int, 2>> p, Value<vec<int, 2>> q) { return p.x < q.x; };
    EXPECT_EQ(merge(as_buffer(a), as_buffer(b), less).read(0), expected);
    const Buffer<vec<int, 2>> to(220);
    merge(to, as_buffer(a), as_buffer(b), less);
    EXPECT_EQ(to.read(0), expected);
    // Descending: the comparison is reversed, equal elements are not.
    std::reverse(a.begin(), a.end());
    std::reverse(b.begin(), b.end());
    expected.clear();
    std::merge(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(expected),
               [&](const auto& p, const auto& q) { return less_x(q, p); });
    EXPECT_EQ(merge(as_buffer(a), as_buffer(b), less, {.descending = true}).read(0), expected);
    EXPECT_EQ(
        merge_by_key(as_buffer(a), lazy(as_buffer(a)), as_buffer(b), as_buffer(b), less, {.descending = true})
            .values.read(0),
        expected);
}

VOLLEY_DEVICE_TEST(Merge, HasRowsAlongAnyAxis) {
    for (int axis = -3; axis < 3; ++axis) {
        std::vector<std::int64_t> extents_a{3, 4, 5}, extents_b{3, 4, 5};
        const auto k = static_cast<std::size_t>(axis < 0 ? axis + 3 : axis);
        extents_a[k] = 20;
        extents_b[k] = 33;
        const Shape shape_a{std::span<const std::int64_t>(extents_a)},
            shape_b{std::span<const std::int64_t>(extents_b)};
        const auto values = [](const Shape& shape) {
            std::vector<int> result(static_cast<std::size_t>(shape.elements()));
            for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<int>(i * 7919 % 101);
            return as_buffer(result, shape);
        };
        const Buffer<int> a = sort(values(shape_a), {.axis = axis}),
                          b = sort(values(shape_b), {.axis = axis});
        const Buffer<int> got = merge(a, b, {.axis = axis});
        // The merged rows are the sorted rows of both.
        extents_a[k] = 53;
        Buffer<int> both(Shape{std::span<const std::int64_t>(extents_a)});
        std::array<Selector, 3> first{all, all, all}, second{all, all, all};
        first[k] = slice(0, 20);
        second[k] = slice(20, 53);
        both.sub(Selection(first)).copy_from(a);
        both.sub(Selection(second)).copy_from(b);
        EXPECT_EQ(got.shape(), both.shape());
        EXPECT_EQ(got.read(0), sort(both, {.axis = axis}).read(0)) << axis;
    }
}

VOLLEY_DEVICE_TEST(Merge, FusesMapsAndStoreMaps) {
    const Buffer<int> a = as_buffer(sorted_numbers<int>(100, 90, 3)),
                      b = as_buffer(sorted_numbers<int>(80, 90, 4));
    std::vector<int> expected = a.read(0);
    for (const int x : b.read(0)) expected.push_back(2 * x + 1);
    std::sort(expected.begin(), expected.end());
    Buffer<int> strided(360);
    strided.fill(-1);
    merge(strided.sub({slice(0, 360, 2)}), a, lazy(b) * 2 + 1);
    EXPECT_EQ(strided.sub({slice(0, 360, 2)}).read(0), expected);
    EXPECT_EQ(strided.sub({slice(1, 360, 2)}).read(0), std::vector<int>(180, -1));
    const auto reversed = store_map([](Value<u32> i, Value<int> x, Buff<int> out) { out[179U - i] = -x; });
    const Buffer<int> to(180);
    merge(reversed.over(Shape(180))(to), a, lazy(b) * 2 + 1);
    std::vector<int> got = to.read(0);
    std::reverse(got.begin(), got.end());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], -expected[i]);
}

VOLLEY_DEVICE_TEST(Merge, AndSearchesAreRecorded) {
    const Buffer<int> a = as_buffer(std::vector<int>{1, 3, 5, 7}), b = as_buffer(std::vector<int>{0, 2, 4});
    const Buffer<int> sums(3);
    auto graph = record([&] {
        const auto shifted = map([](Value<u32> i, Buff<const int> x, Const<int> by) { return x[i] + by; });
        const Buffer<int> merged = merge(shifted(a, dyn<int>("by")), b);
        const Buffer<u32> places = searchsorted(merged, b, {.side = SearchSide::Right});
        const auto put = store_map([](Value<u32> i, Value<u32> x, Buff<int> to, Const<u32> row) {
            $if (i == 2U) {
                to[row] = cast<int>(x);
            }
        });
        transform(put.over(Shape(3))(sums, dyn<u32>("row")), places);
    });
    graph.bind("by", {0, -3, 10});
    graph.bind("row", {0U, 1U, 2U});
    graph.submit({.instances = 3}).wait();
    EXPECT_EQ(sums.read(0), (std::vector<int>{5, 7, 3}));
}

template <class T>
void expect_finds(const std::vector<T>& edges, const std::vector<T>& values) {
    const Buffer<T> array = as_buffer(edges), wanted = as_buffer(values);
    std::vector<u32> left, right;
    for (const T& v : values) {
        left.push_back(static_cast<u32>(std::lower_bound(edges.begin(), edges.end(), v) - edges.begin()));
        right.push_back(static_cast<u32>(std::upper_bound(edges.begin(), edges.end(), v) - edges.begin()));
    }
    EXPECT_EQ(searchsorted(array, wanted).read(0), left) << edges.size();
    EXPECT_EQ(searchsorted(array, wanted, {.side = SearchSide::Right}).read(0), right) << edges.size();
    const Buffer<u32> to(values.size());
    searchsorted(to, array, wanted, [](Value<T> x, Value<T> y) { return cast<int>(x) < cast<int>(y); });
    EXPECT_EQ(to.read(0), left) << edges.size();
}

VOLLEY_DEVICE_TEST(Searchsorted, CountsTheElementsBefore) {
    for (const std::size_t n : {0, 1, 2, 3, 4, 7, 8, 9, 100, 1023, 1024, 1025})
        expect_finds(sorted_numbers<int>(n, 200, 5), sorted_numbers<int>(97, 220, 6));
    each_type<i8, u16, f16, float, u64, double>(
        [&]<class T>() { expect_finds(sorted_numbers<T>(150, 100, 7), sorted_numbers<T>(33, 120, 8)); });
    const Buffer<bool> flags = as_buffer(std::vector<int>{0, 0, 1}).size() == 3
                                   ? evaluate(lazy(as_buffer(std::vector<int>{0, 0, 1})) != 0)
                                   : Buffer<bool>();
    EXPECT_EQ(searchsorted(flags, lazy(as_buffer(std::vector<int>{1, 0})) != 0).read(0),
              (std::vector<u32>{2, 0}));
}

VOLLEY_DEVICE_TEST(Searchsorted, ComparesFloatsAsNumPyDoes) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
    const Buffer<float> sorted = as_buffer(std::vector<float>{-inf, -1, -0.F, 0, 0, 3, inf, nan, -nan});
    const Buffer<float> values = as_buffer(std::vector<float>{-0.F, 0, nan, inf, -inf, 2, -nan});
    EXPECT_EQ(searchsorted(sorted, values).read(0), (std::vector<u32>{2, 2, 7, 6, 0, 5, 7}));
    EXPECT_EQ(searchsorted(sorted, values, {.side = SearchSide::Right}).read(0),
              (std::vector<u32>{5, 5, 9, 7, 1, 5, 9}));
    const Buffer<float> falling = as_buffer(std::vector<float>{-nan, nan, inf, 3, 0, 0, -0.F, -1, -inf});
    EXPECT_EQ(searchsorted(falling, values, {.descending = true}).read(0),
              (std::vector<u32>{4, 4, 0, 2, 8, 4, 0}));
    EXPECT_EQ(searchsorted(falling, values, {.side = SearchSide::Right, .descending = true}).read(0),
              (std::vector<u32>{7, 7, 2, 3, 9, 4, 2}));
}

VOLLEY_DEVICE_TEST(Searchsorted, ReadsViewsAndMapsOfAnyShape) {
    const std::vector<int> data = sorted_numbers<int>(90, 300, 9);
    const Buffer<int> array = as_buffer(data).sub({slice(0, 90, 3)});
    const std::vector<int> edges = array.read(0);
    const Buffer<int> values = as_buffer(sorted_numbers<int>(60, 310, 10), Shape{6, 10});
    const Buffer<u32> got = searchsorted(array, transpose(values));
    EXPECT_EQ(got.shape(), (Shape{10, 6}));
    const std::vector<int> turned = evaluate(transpose(values)).read(0);
    const std::vector<u32> places = got.read(0);
    for (std::size_t i = 0; i < turned.size(); ++i)
        EXPECT_EQ(places[i], std::lower_bound(edges.begin(), edges.end(), turned[i]) - edges.begin());
    // In place: each value is read before its place is stored.
    const Buffer<u32> x = as_buffer(std::vector<u32>{5, 0, 9}), table = as_buffer(std::vector<u32>{1, 5, 6});
    searchsorted(x, table, x);
    EXPECT_EQ(x.read(0), (std::vector<u32>{1, 0, 3}));
}

TEST(MergeErrors, SayWhatToChange) {
    const Context context = make_context({.devices = {"cpu"}});
    const ContextScope scope = context.use();
    const Buffer<int> a(4), b(5), matrix({2, 3});
    Buffer<int> to(9);
    to.fill(7);
    error_of(ErrorCode::IndexError, [&] { merge(to, a, b, {.axis = 1}); });
    error_of(ErrorCode::SizeMismatch, [&] { merge(Buffer<int>(8), a, b); });
    expect_contains(error_of(ErrorCode::SizeMismatch,
                             [&] {
                                 (void)merge(matrix, Buffer<int>({3, 3}));
                             }),
                    "cannot be merged along axis 1");
    error_of(ErrorCode::TypeMismatch, [&] { merge(to, a, Buffer<float>(5)); });
    error_of(ErrorCode::InvalidView, [&] { merge(to, to.sub({slice(0, 4)}), b); });
    error_of(ErrorCode::InvalidView, [&] { merge_by_key(to, to, a, a, b, b); });
    error_of(ErrorCode::SizeMismatch, [&] { (void)merge_by_key(a, b, b, b); });
    error_of(ErrorCode::InvalidArgument, [&] { merge(to, a, b, {.tuning = {.strip = 40'000}}); });
    const Buffer<vec<int, 2>> pairs(3);
    expect_contains(error_of(ErrorCode::TypeMismatch, [&] { (void)merge(pairs, pairs); }),
                    "pass a comparison");
    error_of(ErrorCode::TypeMismatch, [&] { (void)searchsorted(pairs, pairs); });
    error_of(ErrorCode::InvalidShape, [&] { (void)searchsorted(matrix, a); });
    error_of(ErrorCode::TypeMismatch, [&] { searchsorted(to, a, b); });
    error_of(ErrorCode::SizeMismatch, [&] { searchsorted(Buffer<u32>(4), a, b); });
    EXPECT_EQ(to.read(0), std::vector<int>(9, 7));
}

}  // namespace
}  // namespace volley
