// Raw kernels on Vulkan devices: buffers as descriptors or buffer references, values as push constants.
#include "runtime_support.hpp"
#include "support/needs_glsl.hpp"

#include <gtest/gtest.h>

namespace volley::testing {
namespace {

class VulkanRawKernel : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        VOLLEY_NEEDS_GLSL();
        try {
            context_.emplace(make_context({.devices = {GetParam()}}));
        } catch (const DeviceError&) {
            GTEST_SKIP() << "this machine has no device " << GetParam();
        }
        scope_.reset(new ContextScope(context_->use()));
    }

    std::optional<Context> context_;
    std::unique_ptr<ContextScope> scope_;
};

std::vector<float> counting(std::size_t n) {
    std::vector<float> values(n);
    std::iota(values.begin(), values.end(), 0.0F);
    return values;
}

TEST_P(VulkanRawKernel, TakesBindingsAndPushConstants) {
    const auto axpy = kernel_from_glsl<Buff<float>, Const<float>, Buff<const float>, Const<u32>>("axpy", R"(
        #version 450
        layout(local_size_x = 64) in;
        layout(binding = 0) buffer Y { float y[]; };
        layout(binding = 1) readonly buffer X { float x[]; };
        layout(push_constant) uniform Values { float a; uint n; };
        void main() {
            uint i = gl_GlobalInvocationID.x;
            if (i < n) y[i] += a * x[i];
        })");
    const Buffer<float> x = as_buffer(counting(1000)), y = as_buffer(counting(1000));
    for (int k = 0; k < 40; ++k) axpy(y, 0.5F, x, 1000u);
    const std::vector<float> got = y.read(0);
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], 21 * static_cast<float>(i)) << i;
}

TEST_P(VulkanRawKernel, TakesBufferReferences) {
    const auto scale = kernel_from_glsl<Buff<float>, Const<float>>("scale", R"(
        #version 450
        #extension GL_EXT_buffer_reference : require
        layout(local_size_x = 32) in;
        layout(buffer_reference) buffer Data { float x[]; };
        layout(push_constant) uniform Values { Data data; float alpha; };
        void main() { data.x[gl_GlobalInvocationID.x] *= alpha; })");
    const Buffer<float> data = as_buffer(counting(320));
    scale(data, 3.0F);
    EXPECT_EQ(data.read(0)[319], 957.0F);
}

TEST_P(VulkanRawKernel, RunsInOrderWithOtherKernels) {
    const auto raw = kernel_from_glsl<Buff<float>>("raw", R"(
        #version 450
        layout(local_size_x = 64) in;
        layout(binding = 0) buffer Data { float data[]; };
        void main() { uint i = gl_GlobalInvocationID.x; if (i < data.length()) data[i] += 1.0; })");
    const auto own = kernel("own", [](Buff<float> data) {
        auto i = global_id().x;
        data[i] = data[i] * 2.0F;
    });
    const Buffer<float> data = as_buffer(std::vector<float>(100, 1.0F));
    raw(data);
    own(data);
    raw(data);
    EXPECT_EQ(data.read(0), std::vector<float>(100, 5.0F));
}

TEST_P(VulkanRawKernel, ATypeThatTheDeviceLacksThrows) {
    if (context_->devices()[0].f64) GTEST_SKIP() << GetParam() << " has 64-bit floats";
    const auto doubles = kernel_from_glsl<Buff<double>>("doubles", R"(
        #version 450
        layout(local_size_x = 64) in;
        layout(binding = 0) buffer Data { double data[]; };
        void main() { data[gl_GlobalInvocationID.x] *= 2.0; })");
    const Buffer<double> data = as_buffer(std::vector<double>(64, 1.0));
    expect_contains(error_of(ErrorCode::Unsupported, [&] { doubles(data); }), "64-bit floats");
    EXPECT_EQ(data.read(0)[0], 1.0);  // the context stays usable
}

TEST_P(VulkanRawKernel, ADifferentWorkgroupSizeThrows) {
    const auto raw = kernel_from_glsl<Buff<float>>("raw", R"(
        #version 450
        layout(local_size_x = 64) in;
        layout(binding = 0) buffer Data { float data[]; };
        void main() { data[gl_GlobalInvocationID.x] = 1.0; })");
    const Buffer<float> data = as_buffer(std::vector<float>(64, 0.0F));
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { raw.local(32)(data); }), "declares 64");
    raw(data);
    EXPECT_EQ(data.read(0)[63], 1.0F);
}

INSTANTIATE_TEST_SUITE_P(Devices, VulkanRawKernel, ::testing::Values("vulkan:llvmpipe", "vulkan:swiftshader"),
                         [](const auto& device) { return std::string(device.param).substr(7); });

}  // namespace
}  // namespace volley::testing
