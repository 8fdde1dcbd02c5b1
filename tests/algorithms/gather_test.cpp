// Elements at loaded indices: take, take_along_axis, scatter, scatter_add, against plain loops on the host.
#include "support/backend_test.hpp"
#include "support/random.hpp"

#include <volley/algorithms/gather.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/rearrange.hpp>
#include <volley/algorithms/reduce.hpp>
#include <volley/algorithms/sort.hpp>

#include <complex>
#include <limits>
#include <numeric>
#include <thread>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::Random;

constexpr OutOfRange index_policies[] = {OutOfRange::Clamp, OutOfRange::Wrap, OutOfRange::Skip};

/// The element that an index names; -1: none.
std::int64_t place_on_host(std::int64_t i, std::int64_t n, OutOfRange policy) {
    if (i >= -n && i < n) return i < 0 ? i + n : i;
    switch (policy) {
        case OutOfRange::Clamp: return i < 0 ? 0 : n - 1;
        case OutOfRange::Wrap: return (i % n + n) % n;
        case OutOfRange::Skip: break;
    }
    return -1;
}

/// The same for an index without a sign.
std::int64_t place_on_host(std::uint64_t i, std::int64_t n, OutOfRange policy) {
    const auto count = static_cast<std::uint64_t>(n);
    if (i < count) return static_cast<std::int64_t>(i);
    switch (policy) {
        case OutOfRange::Clamp: return n - 1;
        case OutOfRange::Wrap: return static_cast<std::int64_t>(i % count);
        case OutOfRange::Skip: break;
    }
    return -1;
}

template <class I>
std::int64_t placed_on_host(I i, std::int64_t n, OutOfRange policy) {
    if constexpr (std::is_signed_v<I>)
        return place_on_host(std::int64_t{i}, n, policy);
    else
        return place_on_host(std::uint64_t{i}, n, policy);
}

Buffer<int> hundreds(const Shape& shape) {
    std::vector<int> values(static_cast<std::size_t>(shape.elements()));
    std::iota(values.begin(), values.end(), 100);
    return as_buffer(values, shape);
}

VOLLEY_DEVICE_TEST(Take, HasIndicesOfAnyIntegerType) {
    const Buffer<int> line = hundreds(11);
    const std::vector<int> data = line.read(0);
    each_type<i8, u8, i16, u16, i32, u32, i64, u64>([&]<class I>() {
        std::vector<I> indices{I{0}, I{5}, I{10}, I{11}, I{12}, I{127}};
        if constexpr (std::is_signed_v<I>) {
            for (const int i : {-1, -5, -11, -12, -23, -128}) indices.push_back(static_cast<I>(i));
        }
        indices.push_back(std::numeric_limits<I>::min());
        indices.push_back(std::numeric_limits<I>::max());
        for (const OutOfRange policy : index_policies) {
            std::vector<int> expected;
            for (const I i : indices) {
                const std::int64_t place = placed_on_host(i, 11, policy);
                expected.push_back(place < 0 ? 0 : data[static_cast<std::size_t>(place)]);
            }
            EXPECT_EQ(evaluate(take(line, as_buffer(indices), {.out_of_range = policy})).read(0), expected)
                << static_cast<int>(policy);
        }
    });
}

VOLLEY_DEVICE_TEST(Take, ReplacesAnAxisByThoseOfTheIndices) {
    const Buffer<int> table = hundreds(Shape{4, 5, 6});
    const Buffer<i32> ids = as_buffer(std::vector<i32>{3, -1, 0, 2, 1, 3}, Shape{2, 3});
    const std::vector<int> data = table.read(0);
    const std::vector<i32> id = ids.read(0);
    for (int axis = 0; axis < 3; ++axis) {
        const Buffer<int> got = take(table, ids, {.axis = axis - 3});
        std::int64_t outer = 1, inner = 1;
        for (int k = 0; k < axis; ++k) outer *= table.shape()[k];
        for (int k = axis + 1; k < 3; ++k) inner *= table.shape()[k];
        const std::int64_t n = table.shape()[axis];
        std::vector<int> expected;
        for (std::int64_t a = 0; a < outer; ++a) {
            for (const i32 i : id) {
                for (std::int64_t b = 0; b < inner; ++b)
                    expected.push_back(
                        data[static_cast<std::size_t>((a * n + (i < 0 ? i + n : i)) * inner + b)]);
            }
        }
        EXPECT_EQ(got.shape().rank(), 4);
        EXPECT_EQ(got.read(0), expected) << axis;
        Buffer<int> padded(got.shape(), {.padded_shape = {7, 7, 7, 7}});
        take(padded, table, ids, {.axis = axis});
        EXPECT_EQ(padded.read(0), expected) << axis;
    }
    Buffer<i32> scalar(Shape{});
    scalar.fill(2);
    EXPECT_EQ(evaluate(take(table, scalar, {.axis = 0})).read(0), table.sub(2).read(0));
}

VOLLEY_DEVICE_TEST(Take, AppliesAnOrderAlongAnAxis) {
    const Buffer<int> rows = as_buffer(std::vector<int>{5, 3, 9, 1, 2, 8, 7, 7, 0, -4, 6, 2}, Shape{3, 4});
    const Buffer<u32> order = argsort(rows);
    EXPECT_EQ(evaluate(take_along_axis(rows, order)).read(0),
              (std::vector{1, 3, 5, 9, 2, 7, 7, 8, -4, 0, 2, 6}));
    // Both are broadcast: the first row's order, of all rows.
    const Buffer<int> first = take_along_axis(rows, order.sub({slice(0, 1)}));
    EXPECT_EQ(first.read(0), (std::vector{1, 3, 5, 9, 7, 8, 2, 7, 2, -4, 0, 6}));
    Buffer<int> tops({3, 1});
    const Buffer<u32> best = reduce::argmax(rows, {.axes = {1}, .keepdims = true});
    take_along_axis(tops, rows, best, {.axis = 1});
    EXPECT_EQ(tops.read(0), (std::vector{9, 8, 6}));
}

VOLLEY_DEVICE_TEST(Take, FusesWithMapsAndAlgorithms) {
    const Buffer<int> line = hundreds(1000);
    const auto strided = map([](Value<u32> i, Const<u32> step) { return i * step; }).over(100);
    const Lazy<int> every = take(lazy(line) * 2, strided(10U));
    EXPECT_EQ(reduce::sum(every).item(), 2 * (100 * 100 + 10 * 4950));
    const auto negated = store_map([](Value<u32> i, Value<int> x, Buff<int> to) { to[i] = -x; });
    Buffer<int> out(100);
    take(negated(out), line, strided(3U));
    EXPECT_EQ(out.read(0)[99], -397);
    // The indices of indices, of a view, of a table that is a map.
    const Buffer<u32> wide = as_buffer(std::vector<u32>{0, 9, 1, 9, 2, 9, 3, 9}).sub({slice(0, 8, 2)});
    EXPECT_EQ(evaluate(take(strided(7U), take(wide, wide))).read(0), (std::vector<u32>{0, 7, 14, 21}));
}

VOLLEY_DEVICE_TEST(Scatter, StoresWhatTakeReads) {
    const Buffer<int> values = hundreds(Shape{3, 4});
    const Buffer<i32> ids = as_buffer(std::vector<i32>{4, 0, -2, 9});  // 9: none
    Buffer<int> to({3, 6});
    to.fill(-1);
    scatter(to, ids, values);
    EXPECT_EQ(to.read(0),
              (std::vector{101, -1, -1, -1, 102, -1, 105, -1, -1, -1, 106, -1, 109, -1, -1, -1, 110, -1}));
    Buffer<int> whole({8, 9});
    whole.fill(0);
    const Buffer<int> view = whole.sub({slice(0, 8, 2), slice(1, 9, 2)});  // 4 x 4
    scatter(view, as_buffer(std::vector<u8>{3, 0, 1}), values, {.axis = 0});
    EXPECT_EQ(view.read(0),
              (std::vector{104, 105, 106, 107, 108, 109, 110, 111, 0, 0, 0, 0, 100, 101, 102, 103}));
    EXPECT_EQ(reduce::sum(whole).item(), 12 * 100 + 66);
    for (const OutOfRange policy : {OutOfRange::Clamp, OutOfRange::Wrap}) {
        Buffer<int> line(5);
        line.fill(0);
        scatter(line, as_buffer(std::vector<i32>{-100, 101}), as_buffer(std::vector{7, 8}),
                {.out_of_range = policy});
        EXPECT_EQ(line.read(0),
                  policy == OutOfRange::Clamp ? (std::vector{7, 0, 0, 0, 8}) : (std::vector{7, 8, 0, 0, 0}));
    }
    const auto halves =
        store_map([](Value<u32> i, Value<int> x, Buff<float> out) { out[i] = cast<float>(x) / 2.F; });
    Buffer<float> out(3);
    scatter(halves(out), as_buffer(std::vector<u32>{2, 0, 1}), lazy(as_buffer(std::vector{1, 2, 3})));
    EXPECT_EQ(out.read(0), (std::vector{1.F, 1.5F, 0.5F}));
}

VOLLEY_DEVICE_TEST(Scatter, InvertsPermutations) {
    const std::uint64_t seed = testing::seed_or(7);
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, "VOLLEY_SEED=" + std::to_string(seed));
    Random random(seed);
    for (const std::size_t n : {1, 2, 127, 128, 1009}) {
        std::vector<u32> order(n);
        std::iota(order.begin(), order.end(), 0U);
        for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
        const Buffer<u32> ids = as_buffer(order);
        const Buffer<int> line = hundreds(Shape(static_cast<std::int64_t>(n)));
        Buffer<int> back(n);
        scatter(back, ids, take(line, ids));
        EXPECT_EQ(back.read(0), line.read(0));
    }
}

VOLLEY_DEVICE_TEST(Scatter, MovesElementsOfAnyType) {
    const Buffer<i32> ids = as_buffer(std::vector<i32>{2, 0, 1});
    every_type<i8, u16, f16, float, u64, double, bool>([&]<class T>() {
        const std::vector<T> data{T(1), T(0), T(1)};
        const Buffer<T> line = as_buffer(data);
        EXPECT_EQ(evaluate(take(line, ids)).read(0), (std::vector<T>{data[2], data[0], data[1]}));
        Buffer<T> to(3);
        scatter(to, ids, line);
        EXPECT_EQ(to.read(0), (std::vector<T>{data[1], data[2], data[0]}));
    });
    using V = vec<float, 3>;
    const Buffer<V> vectors = as_buffer(std::vector<V>{{1, 2, 3}, {4, 5, 6}});
    EXPECT_EQ(
        evaluate(take(vectors, as_buffer(std::vector<i32>{1, 7, 0}), {.out_of_range = OutOfRange::Skip}))
            .read(0),
        (std::vector<V>{{4, 5, 6}, {0, 0, 0}, {1, 2, 3}}));
}

template <class T>
void expect_added() {
    std::vector<T> values;
    std::vector<i32> ids;
    std::vector<T> expected(16, T(1));
    for (int k = 0; k < 3000; ++k) {
        ids.push_back(k * 7919 % 18 - 1);  // -1: the last; 16: none
        values.push_back(static_cast<T>(static_cast<float>(k % 13)));
        if (ids.back() < 16) expected[static_cast<std::size_t>((ids.back() + 16) % 16)] += values.back();
    }
    Buffer<T> to(16);
    to.fill(T(1));
    scatter_add(to, as_buffer(ids), as_buffer(values));
    EXPECT_EQ(to.read(0), expected);  // all sums of floats are exact
}

VOLLEY_DEVICE_TEST(ScatterAdd, CountsEqualIndices) {
    each_atomic_type<i32, u32, i64, u64, float, double>([&]<class T>() { expect_added<T>(); });
    expect_added<std::complex<float>>();
}

VOLLEY_DEVICE_TEST(ScatterAdd, TakesViewsAndBroadcastsValues) {
    Buffer<int> whole({6, 8});
    whole.fill(0);
    const Buffer<int> view = whole.sub({slice(1, 6, 2), slice(0, 8, 2)});  // 3 x 4
    Buffer<int> one(Shape{});
    one.fill(1);
    scatter_add(view, as_buffer(std::vector<u32>{0, 2, 2, 0, 0}), one, {.axis = 0});
    EXPECT_EQ(view.read(0), (std::vector{3, 3, 3, 3, 0, 0, 0, 0, 2, 2, 2, 2}));
    EXPECT_EQ(reduce::sum(whole).item(), 20);
    Buffer<u32> counts(10);
    counts.fill(0);
    const auto digits = map([](Value<u32> i) { return i * i % 10U; }).over(100);
    scatter_add(counts, digits(), broadcast_to(as_buffer(std::vector<u32>{1}), 100));
    EXPECT_EQ(counts.read(0), (std::vector<u32>{10, 20, 0, 0, 20, 10, 20, 0, 0, 20}));
}

VOLLEY_BACKEND_TEST(GatherArrays, TakeNoElements) {
    const Buffer<int> line = hundreds(5), none(0);
    const Buffer<u32> no_ids(0);
    EXPECT_EQ(evaluate(take(line, no_ids)).size(), 0U);
    EXPECT_EQ(evaluate(take(none, no_ids)).size(), 0U);
    const Buffer<u32> ids = as_buffer(std::vector<u32>{0, 3});
    EXPECT_EQ(evaluate(take(none, ids, {.out_of_range = OutOfRange::Skip})).read(0), (std::vector{0, 0}));
    Buffer<int> to = hundreds(5);
    scatter(to, no_ids, none);
    scatter(none, ids, to.sub({slice(0, 2)}));
    EXPECT_EQ(to.read(0), line.read(0));
}

VOLLEY_BACKEND_TEST(GatherArrays, RunInGraphsAndOnQueues) {
    Buffer<int> line = hundreds(64), sums(4);
    sums.fill(0);
    const auto residues = map([](Value<u32> i, Const<u32> shift) { return (i + shift) % 4U; }).over(64);
    CommandGraph graph =
        record([&] { scatter_add(sums, residues(dyn<u32>("shift")), take(line, residues(0U))); });
    graph.bind("shift", {0U, 1U});
    graph.submit({.instances = 2, .queue = queue(1)});
    EXPECT_EQ(sums.read(1), (std::vector{16 * 203, 16 * 201, 16 * 203, 16 * 205}));
    EXPECT_EQ(sums.read(0), (std::vector{0, 0, 0, 0}));
    const Buffer<int> one = evaluate(take(line, residues(0U)), {.queue = queue(1)});
    EXPECT_EQ(one.placement(), Placement::on(queue(1)));
    std::thread other([&, context = current_context()] {
        const auto scope = context.use();
        EXPECT_EQ(evaluate(take(line, residues(1U))).read(0)[0], 101);
    });
    EXPECT_EQ(evaluate(take(line, residues(2U))).read(0)[0], 102);
    other.join();
}

VOLLEY_BACKEND_TEST(GatherErrors, NameWhatDoesNotFit) {
    Buffer<int> table({3, 4}), out({3, 2});
    out.fill(7);
    const Buffer<u32> ids = as_buffer(std::vector<u32>{0, 1});
    const auto ignore = [](const AnySource&) {};
    const auto refused = [](ErrorCode code, auto call) { return error_of(code, call); };
    expect_contains(refused(ErrorCode::IndexError, [&] { ignore(take(table, ids, {.axis = 2})); }), "axis 2");
    expect_contains(refused(ErrorCode::TypeMismatch, [&] { ignore(take(table, Buffer<float>(2))); }),
                    "the indices are of type f32");
    refused(ErrorCode::TypeMismatch, [&] { ignore(take(table, Buffer<bool>(2))); });
    expect_contains(refused(ErrorCode::InvalidShape, [&] { ignore(take(Buffer<int>(0), ids)); }),
                    "no elements that indices could name");
    expect_contains(refused(ErrorCode::InvalidShape, [&] { ignore(take_along_axis(table, ids)); }),
                    "the indices have the shape");
    refused(ErrorCode::InvalidShape, [&] { ignore(take_along_axis(table, Buffer<u32>({2, 1}))); });
    refused(ErrorCode::SizeMismatch, [&] { take(out, table, ids, {.axis = 0}); });
    refused(ErrorCode::TypeMismatch, [&] { take(Buffer<float>({3, 2}), table, ids); });
    refused(ErrorCode::InvalidView, [&] { take(out, out, ids); });
    refused(ErrorCode::InvalidView, [&] { take(ids, Buffer<u32>(9), ids); });
    refused(ErrorCode::InvalidShape, [&] { scatter(out, ids, table); });
    expect_contains(refused(ErrorCode::TypeMismatch,
                            [&] {
                                scatter(out, ids, Buffer<float>({3, 2}));
                            }),
                    "the values are of type f32");
    refused(ErrorCode::InvalidView, [&] { scatter(out, ids, out); });
    refused(ErrorCode::InvalidView, [&] { scatter(ids, ids, Buffer<u32>(2)); });
    expect_contains(
        refused(ErrorCode::TypeMismatch, [&] { scatter_add(Buffer<i16>(9), ids, Buffer<i16>(2)); }),
        "no atomic addition");
    EXPECT_EQ(out.read(0), std::vector<int>(6, 7)) << "nothing was written";
}

}  // namespace
}  // namespace volley
