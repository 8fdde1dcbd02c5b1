// Kernels with parameters that are known at run time: their parameters, arguments, sizes, queues and graphs.
#include "runtime/runtime_support.hpp"

#include <volley/any_kernel.hpp>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::NullContext;

AnyKernel make_any_scale(DType type) {
    return any_kernel("any scale", {}, [type](ParameterList& parameters) {
        const AnyArray data = parameters.buffer(type);
        const AnyValue alpha = parameters.value(type);
        const auto i = global_id().x;
        data.store(i, data.load(i) * alpha);
    });
}

class AnyKernelTest : public ::testing::TestWithParam<const char*> {
protected:
    Context context = make_context({.devices = {GetParam()}, .queues_per_device = 2});
    ContextScope scope = context.use();
};
INSTANTIATE_TEST_SUITE_P(Backends, AnyKernelTest, ::testing::Values("cpu", "reference"));

TEST_P(AnyKernelTest, ComputesWithTypesChosenAtRunTime) {
    const auto run = [](auto first, auto factor) {
        using T = decltype(first);
        Buffer<T> data(7);
        data.fill(first);
        make_any_scale(dtype_of<T>())({data, static_cast<T>(factor)});
        for (const T& value : data.read(0)) EXPECT_EQ(value, first * static_cast<T>(factor));
    };
    run(1.5F, 2);
    run(1.5, 3);
    run(std::int64_t{1} << 40U, 3);
    run(std::uint8_t{5}, 7);
    run(half(1.5F), half(2));
    run(std::complex<float>(1, 2), 3.F);
    run(vec3(1, 2, 3), vec3(2, 2, 2));
}

TEST_P(AnyKernelTest, TakesMoreArgumentsThanItHoldsInline) {
    constexpr unsigned count = 40;
    const AnyKernel sum = any_kernel("sum", {}, [](ParameterList& parameters) {
        const AnyArray out = parameters.buffer(dtype_of<u32>());
        std::vector<AnyValue> values;
        for (unsigned k = 0; k < count; ++k) values.push_back(parameters.value(dtype_of<u32>()));
        AnyVar total(values[0]);
        for (unsigned k = 1; k < count; ++k) total = total.load() + values[k];
        out.store(global_id().x, total.load());
    });
    const Buffer<u32> out(3);
    std::vector<AnyArgument> arguments{out};
    for (unsigned k = 0; k < count; ++k) arguments.emplace_back(k * k);
    sum(arguments);
    EXPECT_EQ(out.read(0)[2], (count - 1) * count * (2 * count - 1) / 6);
}

TEST_P(AnyKernelTest, LaunchesTheRequestedSizes) {
    const AnyKernel number = any_kernel("number", {.local = {4}}, [](ParameterList& parameters) {
        const AnyArray out = parameters.buffer(dtype_of<u32>());
        out.store(global_id().x, group_id().x * 100U + local_id().x);
    });
    Buffer<u32> out(12);
    out.fill(7);
    number.over(6)({out});
    EXPECT_EQ(out.read(0), (std::vector<u32>{0, 1, 2, 3, 100, 101, 7, 7, 7, 7, 7, 7}));
    number.groups(3)({out});
    EXPECT_EQ(out.read(0)[11], 203U);
    out.fill(7);
    number.over(0)({out});
    EXPECT_EQ(out.read(0)[0], 7U);
    const AnyKernel flat = any_kernel("flat", {}, [](ParameterList& parameters) {
        const AnyArray data = parameters.buffer(dtype_of<u32>());
        data.store(global_id().x, local_size().x);
    });
    flat.over(4).local(2)({out});
    EXPECT_EQ(out.read(0)[0], 2U);
}

TEST_P(AnyKernelTest, RunsOnTheRequestedQueue) {
    Buffer<int> data(4);
    data.fill(3);
    make_any_scale(dtype_of<int>()).on(queue(1))({data, 2});
    EXPECT_EQ(data.read(0)[0], 3);
    EXPECT_EQ(data.read(1)[0], 6);
    make_any_scale(dtype_of<int>())({data, 5});
    EXPECT_EQ(data.read(0)[0], 15);
    EXPECT_EQ(data.read(1)[0], 30);
}

TEST_P(AnyKernelTest, TakesDynamicValuesInGraphs) {
    Buffer<float> data(5);
    data.fill(1);
    const AnyKernel scale = make_any_scale(dtype_of<float>());
    CommandGraph graph = record([&] { scale({data, dyn<float>("alpha")}); });
    graph.bind("alpha", {2.F, 3.F, 5.F});
    graph.submit({.instances = 3});
    for (const float value : data.read(0)) EXPECT_EQ(value, 30.F);
    graph.bind("alpha", 0.5F);
    graph.submit({.instances = 2, .queue = queue(1)});
    EXPECT_EQ(data.read(1)[4], 7.5F);
}

TEST_P(AnyKernelTest, AccessesViewsByPosition) {
    const AnyKernel twice = any_kernel("twice", {}, [](ParameterList& parameters) {
        const AnyArray to = parameters.buffer(dtype_of<int>());
        const AnyArray from = parameters.const_buffer(dtype_of<int>());
        const std::vector<Value<u32>> at{global_id().y, global_id().x};
        to.store_at(at, from.load_at(at) + from.load_at(at));
    });
    std::vector<int> numbers(24);
    for (int k = 0; k < 24; ++k) numbers[static_cast<std::size_t>(k)] = k;
    const Buffer<int> whole = as_buffer(numbers, Shape{4, 6});
    Buffer<int> out({2, 2}, {.padded_shape = {3, 5}});
    twice.over(out.shape())({out, whole.sub({slice(1, 4, 2), slice(1, 6, 3)})});
    EXPECT_EQ(out.read(0), (std::vector<int>{14, 20, 38, 44}));
}

TEST_P(AnyKernelTest, RefusesWrongArguments) {
    const AnyKernel scale = make_any_scale(dtype_of<float>());
    Buffer<float> data(4);
    data.fill(2);
    const Buffer<int> numbers(4);
    const auto refused = [&](ErrorCode code, std::initializer_list<AnyArgument> arguments,
                             std::string_view part) {
        const std::string text = error_of(code, [&] { scale(arguments); });
        expect_contains(text, part);
        expect_contains(text, "any scale");
    };
    refused(ErrorCode::InvalidArgument, {data}, "called with 1 arguments");
    refused(ErrorCode::InvalidArgument, {data, 2.F, 3.F}, "pass 2");
    refused(ErrorCode::TypeMismatch, {2.F, data}, "argument 1 is a value, not a buffer");
    refused(ErrorCode::TypeMismatch, {data, data}, "argument 2 is a buffer, not a value");
    refused(ErrorCode::TypeMismatch, {numbers, 2.F}, "buffer of i32");
    refused(ErrorCode::TypeMismatch, {data, 2}, "argument 2 has the type i32, but f32 is required");
    refused(ErrorCode::TypeMismatch, {data, 2.0}, "argument 2 has the type f64");
    refused(ErrorCode::TypeMismatch, {Buffer<float>(), 2.F}, "argument 1 is a buffer of nothing");
    refused(ErrorCode::TypeMismatch, {data, dyn<int>("alpha")}, "argument 2 has the type i32");
    EXPECT_NO_THROW(scale({data, 2.F}));
    EXPECT_EQ(data.read(0)[3], 4.F) << "the context goes on";
}

TEST_P(AnyKernelTest, RefusesDynamicValuesOutsideARecording) {
    const Buffer<float> data(4);
    EXPECT_THROW(make_any_scale(dtype_of<float>())({data, dyn<float>("alpha")}), Error);
}

TEST_P(AnyKernelTest, RefusesWhatALaunchRefuses) {
    Buffer<int> data(4);
    const AnyKernel scale = make_any_scale(dtype_of<int>());
    error_of(ErrorCode::InvalidLaunch, [&] { scale.over(4).groups(2)({data, 2}); });
    const Context other = make_context({.devices = {GetParam()}});
    error_of(ErrorCode::WrongContext, [&] {
        const auto use = other.use();
        scale({data, 2});
    });
    data.destroy();
    EXPECT_THROW(scale({data, 2}), Error);
}

TEST_P(AnyKernelTest, IsLaunchedByManyThreads) {
    const AnyKernel scale = make_any_scale(dtype_of<u32>());
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; ++k) {
        threads.emplace_back([&] {
            const auto use = context.use();
            Buffer<u32> mine(100);
            mine.fill(1);
            for (int n = 0; n < 16; ++n) scale({mine, 3U});
            EXPECT_EQ(mine.read(0)[99], 43046721U);
        });
    }
    for (std::thread& thread : threads) thread.join();
}

TEST(AnyKernel, MustBeMade) {
    const AnyKernel none;
    EXPECT_FALSE(none);
    expect_contains(error_of(ErrorCode::InvalidArgument, [&] { none({1}); }), "any_kernel()");
    EXPECT_TRUE(make_any_scale(dtype_of<int>()));
}

TEST(AnyKernel, ReportsErrorsOfItsBody) {
    expect_contains(error_of(ErrorCode::TraceError,
                             [] {
                                 static_cast<void>(any_kernel("thrower", {}, [](ParameterList&) {
                                     throw std::runtime_error("no such type");
                                 }));
                             }),
                    "no such type");
    error_of(ErrorCode::TraceError, [] {
        static_cast<void>(any_kernel("mixed", {}, [](ParameterList& parameters) {
            const AnyArray data = parameters.buffer(dtype_of<int>());
            data.store(0U, parameters.value(dtype_of<float>()));
        }));
    });
    error_of(ErrorCode::InvalidLaunch,
             [] { static_cast<void>(any_kernel("huge", {.local = {1U << 20U}}, [](ParameterList&) {})); });
    EXPECT_FALSE(lang::tracing());
}

TEST(AnyKernel, ReturnsItsNameIrAndCode) {
    const AnyKernel scale = make_any_scale(dtype_of<float>());
    EXPECT_EQ(scale.name(), "any scale");
    expect_contains(scale.ir(), "mul");
    EXPECT_FALSE(scale.code().empty());
}

TEST(AnyKernel, CompilesOncePerContextHoweverOftenItIsMade) {
    NullContext null;
    const auto use = null.context.use();
    const Buffer<int> data(4);
    for (int k = 0; k < 5; ++k) make_any_scale(dtype_of<int>())({data, k});
    EXPECT_EQ(null.log->programs_made, 1U);
    const Buffer<float> other(4);
    make_any_scale(dtype_of<float>())({other, 1.F});
    EXPECT_EQ(null.log->programs_made, 2U);
}

TEST(AnyArgument, KnowsItsKindAndType) {
    const Buffer<half> buffer(3);
    EXPECT_TRUE(AnyArgument(buffer).is_buffer());
    EXPECT_EQ(AnyArgument(buffer).dtype(), dtype_of<half>());
    EXPECT_FALSE(AnyArgument(true).is_buffer());
    EXPECT_EQ(AnyArgument(true).dtype(), dtype_of<bool>());
    EXPECT_EQ(AnyArgument(vec2(1, 2)).dtype(), dtype_of<vec2>());
    EXPECT_FALSE(AnyArgument(dyn<double>("x")).is_buffer());
    EXPECT_EQ(AnyArgument(dyn<double>("x")).dtype(), dtype_of<double>());
    const u32 bytes = 77;
    const AnyArgument copied(dtype_of<u32>(), &bytes);
    EXPECT_EQ(*static_cast<const u32*>(copied.bound().value), 77U);
    EXPECT_TRUE(AnyArgument(Buffer<int>()).is_buffer());
}

}  // namespace
}  // namespace volley
