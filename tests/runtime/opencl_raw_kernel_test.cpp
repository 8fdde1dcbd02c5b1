// Kernels written in OpenCL C, called like any other.
#include "runtime/runtime_support.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace volley::testing {
namespace {

struct Point2 {
    float x, y;
    int weight;
};
VOLLEY_STRUCT(Point2, x, y, weight);

class OpenClRawKernel : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            context_.emplace(make_context({.devices = {"opencl:0", "cpu:0"}}));
        } catch (const DeviceError&) {
            GTEST_SKIP() << "this machine has no OpenCL device";
        }
        scope_.reset(new ContextScope(context_->use()));
    }

    std::optional<Context> context_;
    std::unique_ptr<ContextScope> scope_;
};

TEST_F(OpenClRawKernel, TakesBuffersAndValues) {
    const auto axpy = kernel_from_opencl<Buff<float>, Const<float>, Buff<const float>>("axpy", R"(
        kernel void axpy(global float* y, float a, global const float* x) {
            size_t i = get_global_id(0);
            y[i] += a * x[i];
        })");
    const Buffer<float> x = as_buffer(counting<float>(1000)), y = as_buffer(counting<float>(1000));
    for (int k = 0; k < 40; ++k) axpy.on(queue(0))(y, 0.5F, x);
    const std::vector<float> got = y.read(0);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 21 * static_cast<float>(i)) << i;
    EXPECT_EQ(y.read(1)[10], 10.0F);
}

TEST_F(OpenClRawKernel, RunsExactlyTheRequestedInvocations) {
    const auto count = kernel_from_opencl<Buff<u32>>("count", R"(
        kernel void count(global uint* total) { atomic_inc(total); })");
    for (const unsigned n : {1u, 7u, 1000u, 1021u}) {
        const Buffer<u32> total = as_buffer(std::vector<u32>(1, 0u));
        count.on(queue(0)).over(n)(total);
        EXPECT_EQ(total.read(0)[0], n);
    }
    const Buffer<u32> total = as_buffer(std::vector<u32>(1, 0u));
    count.on(queue(0)).over({5, 6, 7})(total);
    EXPECT_EQ(total.read(0)[0], 210u);
    count.on(queue(0)).over(100).local(64)(total);
    EXPECT_EQ(total.read(0)[0], 210u + 128u) << "whole workgroups";
}

TEST_F(OpenClRawKernel, TakesStructsComplexNumbersAndVectors) {
    const auto move = kernel_from_opencl<Buff<Point2>, Const<vec<float, 2>>, Buff<complex<float>>>("move", R"(
        typedef struct { float x, y; int weight; } Point2;
        kernel void move(global Point2* points, float2 by, global float2* numbers) {
            size_t i = get_global_id(0);
            points[i].x += by.x;
            points[i].y += by.y;
            points[i].weight += 1;
            numbers[i] = (float2)(-numbers[i].y, numbers[i].x);
        })");
    const Buffer<Point2> points = as_buffer(std::vector<Point2>(10, Point2{1, 2, 3}));
    const Buffer<complex<float>> numbers = as_buffer(std::vector<complex<float>>(10, complex<float>(1, 2)));
    move.on(queue(0))(points, vec<float, 2>(10.0F, 20.0F), numbers);
    const Point2 got = points.read(0)[9];
    EXPECT_EQ(got.x, 11.0F);
    EXPECT_EQ(got.y, 22.0F);
    EXPECT_EQ(got.weight, 4);
    EXPECT_EQ(numbers.read(0)[9], complex<float>(-2, 1));
}

TEST_F(OpenClRawKernel, TakesVectorsOfThreeAsTheirComponents) {
    const auto swap = kernel_from_opencl<Buff<vec<float, 3>>>("swap", R"(
        kernel void swap(global float* data) {
            size_t i = get_global_id(0);
            float3 v = vload3(i, data);
            vstore3(v.zyx, i, data);
        })");
    const Buffer<vec<float, 3>> data = as_buffer(std::vector<vec<float, 3>>(4, vec<float, 3>(1, 2, 3)));
    swap.on(queue(0))(data);
    EXPECT_EQ(data.read(0)[3], (vec<float, 3>(3, 2, 1)));
    const auto wrong = kernel_from_opencl<Buff<vec<float, 3>>>("wrong", R"(
        kernel void wrong(global float3* data) { data[get_global_id(0)] = (float3)(0); })");
    expect_contains(error_of(ErrorCode::CompileError, [&] { wrong.on(queue(0))(data); }), "vload3");
}

TEST_F(OpenClRawKernel, RunsInOrderWithOtherKernels) {
    const auto raw = kernel_from_opencl<Buff<float>>("raw", R"(
        kernel void raw(global float* data) { data[get_global_id(0)] += 1.0f; })");
    const auto own = kernel("own", [](Buff<float> data) {
        auto i = global_id().x;
        data[i] = data[i] * 2.0F;
    });
    const Buffer<float> data = as_buffer(std::vector<float>(100, 1.0F));
    raw.on(queue(0))(data);
    own.on(queue(0))(data);
    raw.on(queue(0))(data);
    EXPECT_EQ(data.read(0), std::vector<float>(100, 5.0F));
}

TEST_F(OpenClRawKernel, TakesAnEntryBuildOptionsAndALocalSize) {
    const auto tiled =
        kernel_from_opencl<Buff<int>>("tiled", R"(
        __attribute__((reqd_work_group_size(32, 1, 1)))
        kernel void reverse(global int* data) {
            local int tile[32];
            size_t i = get_local_id(0);
            tile[i] = data[get_global_id(0)];
            barrier(CLK_LOCAL_MEM_FENCE);
            data[get_global_id(0)] = tile[31 - i] + OFFSET;
        })",
                                      {.entry = "reverse", .build_options = "-D OFFSET=1000", .local = 32});
    const Buffer<int> data = as_buffer(counting<int>(64));
    tiled.on(queue(0))(data);
    EXPECT_EQ(data.read(0)[0], 1031);
    EXPECT_EQ(data.read(0)[32], 1063);
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { tiled.on(queue(0)).local(16)(data); }),
                    "declares 32");
}

TEST_F(OpenClRawKernel, AnInvalidLocalSizeThrowsAtCreation) {
    EXPECT_EQ(error_of(
                  ErrorCode::InvalidLaunch,
                  [] {
                      (void)kernel_from_opencl<Buff<int>>("bad", "", {.local = 0});
                  }).find("kernel 'bad'") == std::string::npos,
              false);
    EXPECT_THROW((void)kernel_from_opencl<Buff<int>>("bad", "", {.local = {1, 2, 3, 4}}), LaunchError);
}

TEST_F(OpenClRawKernel, ABadSourceThrowsWithTheLogAndTheContextStaysUsable) {
    const auto bad = kernel_from_opencl<Buff<int>>("bad", R"(
        kernel void bad(global int* data) { data[0] = undeclared; })");
    const Buffer<int> data = as_buffer(counting<int>(64));
    const std::string text = error_of(ErrorCode::CompileError, [&] { bad.on(queue(0))(data); });
    expect_contains(text, "undeclared");
    expect_contains(text, "kernel 'bad'");
    EXPECT_EQ(data.read(0)[5], 5);
}

TEST_F(OpenClRawKernel, DevicesOfOtherBackendsRejectIt) {
    const auto raw =
        kernel_from_opencl<Buff<int>>("raw", "kernel void raw(global int* data) { data[0] = 1; }");
    const Buffer<int> data = as_buffer(counting<int>(64));
    expect_contains(error_of(ErrorCode::Unsupported, [&] { raw.on(queue(1))(data); }), "OpenCL C");
    expect_contains(error_of(ErrorCode::Unsupported, [&] { raw(data); }), "cpu:0");
    EXPECT_EQ(data.read(0)[0], 0) << "nothing has run";
}

}  // namespace
}  // namespace volley::testing
