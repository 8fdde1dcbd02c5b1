// Scans as programs use them: of views, maps and other types, in graphs, by several threads, of nothing, and
// with bad input. Also cumsum() and diff().
#include "support/backend_test.hpp"
#include "support/random.hpp"

#include <volley/algorithms/diff.hpp>
#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/reduce.hpp>
#include <volley/algorithms/scan.hpp>

#include <numeric>
#include <thread>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

std::vector<i32> random_i32(std::size_t count, std::uint64_t seed) {
    testing::Random random(seed);
    std::vector<i32> values(count);
    for (i32& value : values) value = static_cast<i32>(random.between(-100, 100));
    return values;
}

std::vector<i32> sums_of_rows(const std::vector<i32>& x, std::size_t length) {
    std::vector<i32> sums(x.size());
    for (std::size_t row = 0; row < x.size(); row += length)
        std::partial_sum(x.begin() + static_cast<std::ptrdiff_t>(row),
                         x.begin() + static_cast<std::ptrdiff_t>(row + length),
                         sums.begin() + static_cast<std::ptrdiff_t>(row));
    return sums;
}

VOLLEY_DEVICE_TEST(ScanUse, SumsEveryType) {
    constexpr int n = 300;
    every_type<i8, u8, i16, u16, i32, u32, i64, u64, half, float>([&]<class T>() {
        std::vector<T> x, expected;
        int sum = 0;
        for (int k = 0; k < n; ++k) {
            x.push_back(static_cast<T>(static_cast<float>(k % 3)));
            sum += k % 3;
            expected.push_back(static_cast<T>(static_cast<float>(
                std::is_integral_v<T> && sizeof(T) == 1 ? static_cast<int>(static_cast<T>(sum)) : sum)));
        }
        EXPECT_EQ(scan::inclusive_sum(as_buffer(x)).read(0), expected) << dtype_of<T>().name();
    });
    const Buffer<std::complex<float>> turns = as_buffer(std::vector<std::complex<float>>(9, {0, 1}));
    const auto multiply = [](Value<std::complex<float>> a, Value<std::complex<float>> b) { return a * b; };
    EXPECT_EQ(scan::inclusive(multiply, turns).read(0)[8], (std::complex<float>{0, 1}));
}

VOLLEY_DEVICE_TEST(ScanUse, ReadsAndWritesViewsMapsAndStoreMaps) {
    const std::vector<i32> values = random_i32(std::size_t{20} * 60, 1);
    const Buffer<i32> whole = as_buffer(values, Shape{20, 60});
    const Buffer<i32> part = whole.sub({slice(1, 20, 2), slice(3, 60, 3)});
    Buffer<i32> out(part.shape(), {.padded_shape = {12, 32}});
    scan::inclusive_sum(out, part);
    EXPECT_EQ(out.read(0), sums_of_rows(part.read(0), 19));
    const auto negated = map([](Value<u32> i, Buff<const i32> x) { return -x[i]; });
    Buffer<i32> doubled(1200);
    const auto twice = store_map([](Value<u32> i, Value<i32> x, Buff<i32> to) { to[i] = x * 2; });
    scan::inclusive_sum(twice(doubled), negated(as_buffer(values)));
    std::vector<i32> expected = sums_of_rows(values, values.size());
    for (i32& x : expected) x *= -2;
    EXPECT_EQ(doubled.read(0), expected);
    Buffer<i32> in_place = as_buffer(values, Shape{20, 60});
    scan::inclusive_sum(in_place, in_place);
    EXPECT_EQ(in_place.read(0), sums_of_rows(values, 60));
}

VOLLEY_DEVICE_TEST(ScanUse, EndsWithTheReductionOfTheLine) {
    for (const std::int64_t n : {1, 100, 4096, 30'000}) {
        const std::vector<i32> values = random_i32(static_cast<std::size_t>(n), 2);
        const Buffer<i32> x = as_buffer(values);
        const Buffer<i32> sums = scan::inclusive_sum(x);
        EXPECT_EQ(sums.read(0).back(), static_cast<i32>(reduce::sum(x).item())) << n;
        EXPECT_EQ(scan::inclusive([](Value<i32> a, Value<i32> b) { return max(a, b); }, x).read(0).back(),
                  reduce::max(x).item());
        EXPECT_EQ(diff(sums).read(0), std::vector<i32>(values.begin() + 1, values.end()));
    }
}

VOLLEY_DEVICE_TEST(ScanUse, CumsumAddsAllElementsUnlessAnAxisIsNamed) {
    const std::vector<i32> values = random_i32(60, 3);
    const Buffer<i32> x = as_buffer(values, Shape{3, 4, 5});
    const Buffer<i32> flat = cumsum(x);
    EXPECT_EQ(flat.shape(), Shape(60));
    EXPECT_EQ(flat.read(0), sums_of_rows(values, 60));
    EXPECT_EQ(cumsum(x, {.axis = -1}).read(0), sums_of_rows(values, 5));
    const std::vector<i32> along_0 = cumsum(x, {.axis = 0}).read(0);
    EXPECT_EQ(along_0[59], values[19] + values[39] + values[59]);
}

VOLLEY_DEVICE_TEST(DiffArrays, SubtractsNeighboursAlongAnyAxis) {
    const Shape shape{2, 5, 3, 4, 2};
    const std::vector<i32> values = random_i32(static_cast<std::size_t>(shape.elements()), 4);
    const Buffer<i32> x = as_buffer(values, shape);
    for (int axis = -5; axis < 5; ++axis) {
        const int k = axis < 0 ? axis + 5 : axis;
        const Buffer<i32> steps = diff(x, {.axis = axis});
        ASSERT_EQ(steps.shape()[k], shape[k] - 1);
        const std::vector<i32> got = steps.read(0);
        const auto step = static_cast<std::size_t>(row_major_strides(shape)[k]);
        for (std::size_t i = 0; i < got.size(); ++i) {
            const Index index = unravel_index(static_cast<std::int64_t>(i), steps.shape());
            const auto at = static_cast<std::size_t>(ravel_index(index, shape));
            ASSERT_EQ(got[i], values[at + step] - values[at]) << axis << ' ' << i;
        }
    }
    EXPECT_EQ(diff(as_buffer({5})).shape(), Shape(0));
    EXPECT_EQ(diff(Buffer<i32>(0)).shape(), Shape(0));
    const auto squares = map([](Value<u32> i) { return i * i; }).over(10)();
    EXPECT_EQ(diff(squares).read(0), (std::vector<u32>{1, 3, 5, 7, 9, 11, 13, 15, 17}));
}

VOLLEY_BACKEND_TEST(ScanInGraphs, TakesDynamicValues) {
    const std::vector<i32> values = random_i32(2000, 5);
    const Buffer<i32> x = as_buffer(values);
    Buffer<i32> sums(2000), total(2000);
    total.fill(0);
    const auto scaled = map([](Value<u32> i, Buff<const i32> a, Const<i32> s) { return a[i] * s; });
    CommandGraph graph = record([&] {
        scan::inclusive_sum(sums, scaled(x, dyn<i32>("s")));
        transform(total, lazy(total) + sums);
    });
    graph.bind("s", {1, 3, -2});
    graph.submit({.instances = 3, .queue = queue(1)});
    std::vector<i32> expected = sums_of_rows(values, values.size());
    for (i32& sum : expected) sum *= 2;
    EXPECT_EQ(total.read(1), expected);
}

VOLLEY_BACKEND_TEST(ScanInThreads, GivesTheSameResult) {
    const std::vector<i32> values = random_i32(5000, 6);
    const std::vector<i32> expected = sums_of_rows(values, values.size());
    const Context context = current_context();
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&] {
            const auto use = context.use();
            const Buffer<i32> mine = as_buffer(values);
            for (int n = 0; n < 3; ++n) EXPECT_EQ(scan::inclusive_sum(mine).read(1), expected);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

VOLLEY_BACKEND_TEST(ScanErrors, AreThrownBeforeAnythingIsWritten) {
    const Buffer<i32> x = as_buffer({1, 2, 3, 4});
    Buffer<i32> out = as_buffer({9, 9, 9, 9});
    expect_contains(error_of(ErrorCode::IndexError, [&] { scan::inclusive_sum(out, x, {.axis = 1}); }),
                    "axis 1");
    error_of(ErrorCode::SizeMismatch, [&] { scan::inclusive_sum(Buffer<i32>(5), x); });
    error_of(ErrorCode::TypeMismatch, [&] { scan::inclusive_sum(Buffer<u32>(4), x); });
    error_of(ErrorCode::InvalidView, [&] { scan::inclusive_sum(x.view(1, 3), x.view(0, 3)); });
    error_of(ErrorCode::SizeMismatch, [&] {
        scan::inclusive_sum(out, x, {.segments = scan::by_key(as_buffer({1, 1, 2}))});
    });
    error_of(ErrorCode::IndexError, [&] { diff(out.view(0, 3), x, {.axis = 2}); });
    error_of(ErrorCode::SizeMismatch, [&] { diff(out, x); });
    error_of(ErrorCode::InvalidView, [&] { diff(x.view(0, 3), x); });
    error_of(ErrorCode::TraceError, [&] {
        const auto unlucky = [](Value<i32> a, Value<i32> b) -> Value<i32> {
            static_cast<void>(a + b);
            throw std::runtime_error("no luck");
        };
        scan::inclusive(out, unlucky, x);
    });
    EXPECT_EQ(out.read(0), (std::vector<i32>{9, 9, 9, 9})) << "nothing was written";
    const Buffer<i32> none(Shape{3, 0});
    EXPECT_EQ(scan::inclusive_sum(none).shape(), none.shape());
    scan::inclusive_sum(out, x);
    EXPECT_EQ(out.read(0), (std::vector<i32>{1, 3, 6, 10}));
}

}  // namespace
}  // namespace volley
