// Reductions as programs use them: in graphs, on queues, by several threads, of nothing, and with bad input.
#include "support/backend_test.hpp"

#include <volley/algorithms/lazy.hpp>
#include <volley/algorithms/map.hpp>
#include <volley/algorithms/reduce.hpp>

#include <cmath>
#include <numeric>
#include <thread>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

std::vector<float> counted_floats(int count, float first = 0) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), first);
    return values;
}

VOLLEY_BACKEND_TEST(ReduceUse, RunsInGraphsWithDynamicValues) {
    const Buffer<float> data = as_buffer(counted_floats(3000));
    Buffer<float> sum(1), total(1);
    total.fill(0);
    const auto scaled = map([](Value<u32> i, Buff<const float> x, Const<float> s) { return x[i] * s; });
    CommandGraph graph = record([&] {
        reduce::sum(AnySink(sum.reshape(Shape{})), scaled(data, dyn<float>("s")));
        transform(total, lazy(total) + sum);
    });
    graph.bind("s", {1.F, 2.F, -4.F});
    graph.submit({.instances = 3, .queue = queue(1)});
    EXPECT_EQ(total.read(1)[0], -4498500.F);
}

VOLLEY_BACKEND_TEST(ReduceUse, UsesTemporariesOfItsOwnInGraphs) {
    const Buffer<float> data = as_buffer(counted_floats(70'000, -3));
    Buffer<float> least, most;
    CommandGraph graph = record([&] {
        least = reduce::min(data);
        most = reduce::max(data);
    });
    for (int k = 0; k < 3; ++k) graph.submit();
    EXPECT_EQ(least.item(), -3.F);
    EXPECT_EQ(most.item(), 69'996.F);
}

VOLLEY_BACKEND_TEST(ReduceUse, RunsOnQueuesAndPlacements) {
    const Buffer<float> data = as_buffer(counted_floats(100));
    for (const std::vector<float>& replica : reduce::sum(data).read()) EXPECT_EQ(replica[0], 4950.F);
    const Buffer<float> one = reduce::max(data, {.queue = queue(1)});
    EXPECT_EQ(one.placement(), Placement::on(queue(1)));
    EXPECT_EQ(one.item(1), 99.F);
    const Buffer<float> other = as_buffer(counted_floats(100), {.placement = Placement::on(queue(0))});
    EXPECT_EQ(reduce::dot(data, other).item(0), 328'350.F);
}

VOLLEY_BACKEND_TEST(ReduceUse, IsCalledByManyThreads) {
    const Context context = current_context();
    std::vector<std::thread> threads;
    for (int k = 0; k < 3; ++k) {
        threads.emplace_back([&context, k] {
            const auto use = context.use();
            const Buffer<float> mine = as_buffer(counted_floats(5000, static_cast<float>(k)));
            for (int n = 0; n < 10; ++n) {
                EXPECT_EQ(reduce::min(mine).item(), static_cast<float>(k));
                EXPECT_EQ(reduce::argmax(mine).item(), 4999U);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

VOLLEY_BACKEND_TEST(ReduceUse, HasAnIdentityForNothing) {
    const Buffer<float> none(Shape{3, 0, 2});
    EXPECT_EQ(reduce::sum(none, {.axes = {1}}).read(0), std::vector<float>(6, 0.F));
    EXPECT_EQ(reduce::prod(none).item(), 1.F);
    EXPECT_EQ(reduce::norm(none).item(), 0.F);
    EXPECT_EQ(reduce::any(none).item(), false);
    EXPECT_EQ(reduce::all(none).item(), true);
    EXPECT_EQ(reduce::count_if(none, [](Value<float> x) { return x > 0.F; }).item(), 0U);
    EXPECT_EQ(reduce::bit_and(Buffer<u8>(0)).item(), 255);
    EXPECT_EQ(reduce::reduce(
                  7.F, [](Value<float> a, Value<float> b) { return a + b; }, none)
                  .item(),
              7.F);
    EXPECT_EQ(reduce::max(none, {.axes = {0}}).shape(), (Shape{0, 2})) << "no result is needed";
    expect_contains(error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(reduce::min(none)); }),
                    "no elements");
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(reduce::argmax(none, {.axes = {1}})); });
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(reduce::mean(none)); });
    const Buffer<float> one = as_buffer({2.F});
    EXPECT_EQ(reduce::variance(one).item(), 0.F);
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(reduce::stddev(one, {.ddof = 1})); });
}

VOLLEY_BACKEND_TEST(ReduceErrors, AreThrownBeforeAnythingIsWritten) {
    const Buffer<float> data = as_buffer(counted_floats(12), Shape{3, 4});
    Buffer<float> out = as_buffer({9.F, 9.F, 9.F});
    expect_contains(error_of(ErrorCode::IndexError, [&] { reduce::sum(out, data, {.axes = {2}}); }),
                    "axis 2");
    error_of(ErrorCode::IndexError, [&] { reduce::sum(out, data, {.axes = {-3}}); });
    expect_contains(error_of(ErrorCode::InvalidArgument,
                             [&] {
                                 reduce::sum(out, data, {.axes = {1, -1}});
                             }),
                    "repeated");
    error_of(ErrorCode::SizeMismatch, [&] { reduce::sum(out, data, {.axes = {0}}); });
    error_of(ErrorCode::SizeMismatch, [&] { reduce::sum(out, data, {.axes = {1}, .keepdims = true}); });
    error_of(ErrorCode::TypeMismatch, [&] { reduce::sum(Buffer<double>(3), data, {.axes = {1}}); });
    error_of(ErrorCode::InvalidView, [&] { reduce::sum(data.sub({slice(0, 3), 0}), data, {.axes = {1}}); });
    error_of(ErrorCode::InvalidArgument,
             [&] { reduce::sum(out, data, {.axes = {1}, .tuning = {.local = 3}}); });
    error_of(ErrorCode::InvalidShape,
             [&] { static_cast<void>(reduce::dot(data, as_buffer(counted_floats(5)))); });
    error_of(ErrorCode::TraceError, [&] {
        const auto unlucky = [](Value<float> a, Value<float> b) -> Value<float> {
            static_cast<void>(a + b);
            throw std::runtime_error("no luck");
        };
        reduce::reduce(out, 0.F, unlucky, data, {.axes = {1}});
    });
    const Context other = make_context({.devices = {"reference:0"}});
    const Buffer<float> foreign = [&] {
        const auto use = other.use();
        return Buffer<float>(as_buffer(counted_floats(12)));
    }();
    error_of(ErrorCode::WrongContext, [&] { static_cast<void>(reduce::dot(data.reshape({12}), foreign)); });
    EXPECT_EQ(out.read(0), (std::vector<float>{9, 9, 9})) << "nothing was written";
    reduce::sum(out, data, {.axes = {1}});
    EXPECT_EQ(out.read(0), (std::vector<float>{6, 22, 38}));
}

}  // namespace
}  // namespace volley
