// Mapped arrays over views, empty arrays and scalars, in graphs, and on several queues and devices.
#include "support/backend_test.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/transform.hpp>

#include <numeric>
#include <thread>

namespace volley {
namespace {

std::vector<int> numbers_from(std::size_t count, int first = 0) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), first);
    return values;
}

VOLLEY_DEVICE_TEST(MapViews, ReadsStridedBuffersByPosition) {
    const Buffer<int> whole = as_buffer(numbers_from(6 * 8), Shape{6, 8});
    const Buffer<int> part = whole.sub({slice(1, 6, 2), slice(0, 8, 3)});  // 3 x 3
    const auto transposed =
        map([](Value<u32> y, Value<u32> x, Buff<const int> a, Const<int> s) { return a(x, y) * s; });
    const std::vector<int> got = evaluate(transposed(part, 10)).read(0), from = part.read(0);
    for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(got[i], from[i % 3 * 3 + i / 3] * 10) << i;
}

VOLLEY_DEVICE_TEST(MapViews, StoresToStridedBuffersByPosition) {
    Buffer<int> whole({5, 7});
    whole.fill(-1);
    const Buffer<int> part = whole.sub({slice(0, 5, 2), slice(1, 7, 2)});  // 3 x 3
    const auto to = store_map([](Value<u32> y, Value<u32> x, Value<float> v, Buff<int> out,
                                 Const<int> offset) { out(y, x) = cast<int>(v) + offset; });
    const Buffer<float> from = as_buffer({0.F, 1.F, 2.F});  // broadcast along y
    transform(to(part, 5), from);
    const std::vector<int> got = whole.read(0);
    for (int y = 0; y < 5; ++y) {
        for (int x = 0; x < 7; ++x) {
            const int expected = y % 2 == 0 && x % 2 == 1 ? (x - 1) / 2 + 5 : -1;
            EXPECT_EQ(got[static_cast<std::size_t>(y * 7 + x)], expected) << y << ' ' << x;
        }
    }
}

VOLLEY_DEVICE_TEST(MapViews, ReshapesWhatIsNotFlat) {
    const Buffer<int> whole = as_buffer(numbers_from(4 * 6), Shape{4, 6});
    const Buffer<int> part = whole.sub({all, slice(0, 6, 2)});  // 4 x 3
    const std::vector<int> expected = part.read(0);
    EXPECT_FALSE(AnySource(part).is_flat());
    EXPECT_TRUE(AnySource(part).reshape({12}).is_flat());
    EXPECT_EQ(evaluate(lazy(part).reshape({2, 6})).read(0), expected);
    Buffer<int> out({3, 4}, {.padded_shape = {4, 5}});
    transform(AnySink(out).reshape({12}), AnySource(part).reshape({12}));
    EXPECT_EQ(out.read(0), expected);
    transform(AnySink(out).reshape({12}).reshape({3, 4}), AnySource(part).reshape({12}).reshape({3, 4}));
    EXPECT_EQ(out.read(0), expected);
}

VOLLEY_DEVICE_TEST(MapViews, ConvertsAndBroadcastsViews) {
    const Buffer<int> whole = as_buffer(numbers_from(4 * 6), Shape{4, 6});
    const Buffer<int> column = whole.sub({all, slice(2, 3)});  // 4 x 1, strided
    const Buffer<float> got = cast<float>(lazy(column)) + evaluate(cast<float>(lazy(as_buffer({100, 200}))));
    ASSERT_EQ(got.shape(), (Shape{4, 2}));
    EXPECT_EQ(got.read(0), (std::vector<float>{102, 202, 108, 208, 114, 214, 120, 220}));
}

VOLLEY_BACKEND_TEST(MapViews, TakeEmptyArrays) {
    const Buffer<int> none(0), rows({0, 3}), columns({3, 0});
    EXPECT_EQ(evaluate(lazy(none) + 1).shape(), Shape(0));
    EXPECT_EQ(evaluate(lazy(rows) + none.reshape({0, 1})).shape(), (Shape{0, 3}));
    EXPECT_EQ(evaluate(lazy(columns) * 2).size(), 0U);
    Buffer<int> out({2, 0}, {.padded_shape = {3, 4}});
    EXPECT_NO_THROW(transform(out, lazy(none) + 1));
    EXPECT_EQ(evaluate(map([](Value<u32> i) { return i; }).over(0)()).size(), 0U);
    EXPECT_EQ(evaluate(map([](Value<u32> y, Value<u32> x) { return y + x; }).over({0, 4})()).size(), 0U);
}

VOLLEY_BACKEND_TEST(MapViews, TakeScalars) {
    Buffer<int> one(Shape{});
    one.fill(7);
    const Buffer<int> sum = lazy(one) + one;
    EXPECT_EQ(sum.shape(), Shape{});
    EXPECT_EQ(sum.item(), 14);
    const Buffer<int> many = lazy(one) + as_buffer({1, 2, 3});
    EXPECT_EQ(many.read(0), (std::vector<int>{8, 9, 10}));
    transform(one, evaluate(map([](Value<u32> i) { return cast<int>(i) + 3; }).over(Shape{})()));
    EXPECT_EQ(one.item(), 3);
}

// Launches limit the number of workgroups along y and z.
VOLLEY_BACKEND_TEST(MapViews, HaveLongLeadingAxes) {
    Buffer<u8> tall({70'000, 2}, {.padded_shape = {70'000, 3}});
    transform(tall, map([](Value<u32> i) { return cast<u8>(i); }).over({70'000, 2})());
    EXPECT_EQ(tall.read(0)[139'999], static_cast<u8>(139'999));
    Buffer<u8> deep({70'000, 1, 2}, {.padded_shape = {70'000, 1, 3}});
    transform(deep, map([](Value<u32> i) { return cast<u8>(i); }).over({70'000, 1, 2})());
    EXPECT_EQ(deep.read(0)[139'999], static_cast<u8>(139'999));
}

VOLLEY_BACKEND_TEST(MapViews, MayBeWrittenInPlace) {
    Buffer<int> data = as_buffer(numbers_from(1000));
    transform(data, lazy(data) * 2 + data);
    EXPECT_EQ(data.read(0)[999], 2997);
    const Buffer<int> part = data.sub({slice(0, 1000, 10)});
    transform(part, lazy(part) + 1);
    EXPECT_EQ(data.read(0)[990], 2971);
    EXPECT_EQ(data.read(0)[991], 2973);
}

VOLLEY_BACKEND_TEST(MapViews, RunInGraphs) {
    const Buffer<int> data = as_buffer(numbers_from(10));
    Buffer<int> sum(10);
    sum.fill(0);
    const auto scaled = map([](Value<u32> i, Buff<const int> a, Const<int> s) { return a[i] * s; });
    Buffer<int> result;
    CommandGraph graph = record([&] {
        transform(sum, lazy(sum) + scaled(data, dyn<int>("s")));
        result = evaluate(scaled(data, dyn<int>("s")));
    });
    graph.bind("s", {1, 10, 100});
    graph.submit({.instances = 3, .queue = queue(1)});
    EXPECT_EQ(sum.read(1)[9], 999);
    EXPECT_EQ(result.read(1)[9], 900);
}

VOLLEY_BACKEND_TEST(MapViews, RunOnQueuesAndPlacements) {
    const Buffer<int> data = as_buffer(numbers_from(10));
    Buffer<int> everywhere(10);
    everywhere.fill(-1);
    transform(everywhere, lazy(data) + 1, {.queue = queue(1)});
    EXPECT_EQ(everywhere.read(0)[9], -1);
    EXPECT_EQ(everywhere.read(1)[9], 10);
    transform(everywhere, lazy(data) + 2);
    EXPECT_EQ(everywhere.read(0)[9], 11);
    EXPECT_EQ(everywhere.read(1)[9], 11);
    const Buffer<int> single = as_buffer(numbers_from(10), {.placement = Placement::on(queue(1))});
    const Buffer<int> sum = evaluate(lazy(data) + single);
    EXPECT_EQ(sum.placement(), Placement::on(queue(1)));
    EXPECT_EQ(sum.read(1)[9], 18);
    const Buffer<int> common = as_buffer(numbers_from(10), {.placement = Placement::per_device});
    const Buffer<int> both = evaluate(lazy(data) * common);
    EXPECT_EQ(both.placement(), Placement::per_device);
    EXPECT_EQ(both.read(1)[9], 81);
    EXPECT_EQ(evaluate(lazy(data) + 1, {.queue = queue(1)}).placement(), Placement::on(queue(1)));
}

VOLLEY_BACKEND_TEST(MapViews, AreEvaluatedByManyThreads) {
    const Context context = current_context();
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&context, k] {
            const auto use = context.use();
            const Buffer<int> mine = as_buffer(numbers_from(1000, k));
            for (int n = 0; n < 10; ++n) {
                const Buffer<int> got = lazy(mine) * n - k;
                EXPECT_EQ(got.read(1)[999], (999 + k) * n - k);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST(MapCode, CompilesOnceForEqualMaps) {
    const Context context = make_context({.devices = {"cpu:0"}});
    const auto use = context.use();
    const Buffer<int> a = as_buffer(numbers_from(10)), b = as_buffer(numbers_from(20));
    const auto compilations = [&] { return context.memory_stats().programs.compilations; };
    for (int k = 0; k < 5; ++k) {
        const auto scaled = map([](Value<u32> i, Buff<const int> x, Const<int> s) { return x[i] * s; });
        EXPECT_EQ(evaluate(scaled(k % 2 == 0 ? a : b, k)).read(0)[9], 9 * k);
    }
    EXPECT_EQ(compilations(), 1U);
    for (int k = 0; k < 5; ++k) EXPECT_EQ(evaluate(lazy(a) + k).read(0)[9], 9 + k);
    EXPECT_EQ(compilations(), 2U) << "numbers are arguments";
    for (int k = 0; k < 3; ++k)
        static_cast<void>(evaluate(map([k](Value<u32> i) { return cast<int>(i) * (k + 7); }).over(5)()));
    EXPECT_EQ(compilations(), 5U) << "captures are constants";
}

class MixedDevices : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            context.emplace(make_context({.devices = {"cpu:0", "vulkan:llvmpipe"}, .queues_per_device = 2}));
        } catch (const DeviceError&) {
            GTEST_SKIP() << "this machine has no device vulkan:llvmpipe";
        }
        scope.reset(new ContextScope(context->use()));
    }
    void TearDown() override { scope.reset(); }

    std::optional<Context> context;
    std::unique_ptr<ContextScope> scope;
};

TEST_F(MixedDevices, EvaluateOnEveryQueue) {
    const Buffer<int> data = as_buffer(numbers_from(100));
    const Buffer<int> sum = lazy(data) + data;
    ASSERT_EQ(sum.replica_count(), 4U);
    for (const std::vector<int>& replica : sum.read()) EXPECT_EQ(replica[99], 198);
}

TEST_F(MixedDevices, EvaluateOncePerDevice) {
    const Buffer<int> data = as_buffer(numbers_from(100));
    Buffer<int> sum(100, {.placement = Placement::per_device});
    sum.fill(1);
    transform(sum, lazy(sum) + data);
    for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(sum.read(k)[99], 100) << k;
    const Buffer<int> other = lazy(sum) * 2;
    ASSERT_EQ(other.replica_count(), 2U);
    for (unsigned k = 0; k < 4; ++k) EXPECT_EQ(other.read(k)[99], 200) << k;
}

TEST_F(MixedDevices, EvaluateOnOneQueue) {
    const Buffer<int> data = as_buffer(numbers_from(100));
    const Buffer<int> single = as_buffer(numbers_from(100), {.placement = Placement::on(queue(3))});
    EXPECT_EQ(evaluate(lazy(data) + single).read(3)[99], 198);
    EXPECT_EQ(evaluate(lazy(data) + 1, {.queue = queue(2)}).read(2)[99], 100);
    testing::error_of(ErrorCode::InvalidLaunch, [&] {
        static_cast<void>(
            evaluate(lazy(single) + as_buffer(numbers_from(100), {.placement = Placement::on(queue(0))})));
    });
}

TEST_F(MixedDevices, EvaluateInGraphs) {
    const Buffer<int> data = as_buffer(numbers_from(100));
    Buffer<int> sum(100);
    sum.fill(0);
    CommandGraph graph = record([&] { transform(sum, lazy(sum) + data); });
    graph.submit({.instances = 3});
    for (const std::vector<int>& replica : sum.read()) EXPECT_EQ(replica[99], 297);
}

}  // namespace
}  // namespace volley
