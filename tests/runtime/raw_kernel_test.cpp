// Errors of raw kernels that can be tested without a Vulkan device.
#include "runtime_support.hpp"
#include "support/needs_glsl.hpp"

#include <gtest/gtest.h>

namespace volley::testing {
namespace {

constexpr std::string_view scale_source = R"(#version 450
layout(local_size_x = 64) in;
layout(binding = 0) buffer Data { float data[]; };
layout(push_constant) uniform Values { float alpha; };
void main() {
    uint i = gl_GlobalInvocationID.x;
    if (i < data.length()) data[i] *= alpha;
})";

TEST(RawKernel, ADeviceOfAnotherBackendRejectsIt) {
    VOLLEY_NEEDS_GLSL();
    const Context context = make_context({.devices = {"cpu:0"}});
    const ContextScope scope = context.use();
    const auto scale = kernel_from_glsl<Buff<float>, Const<float>>("scale", scale_source);
    const Buffer<float> data = as_buffer(std::vector<float>{1, 2, 3});
    const std::string text = error_of(ErrorCode::Unsupported, [&] { scale(data, 2.0F); });
    expect_contains(text, "SPIR-V");
    expect_contains(text, "cpu:0");
    EXPECT_EQ(data.read(0), (std::vector<float>{1, 2, 3}));  // the context stays usable
}

TEST(RawKernel, GlslThatDoesNotCompileThrowsWithTheLog) {
    VOLLEY_NEEDS_GLSL();
    const std::string text = error_of(ErrorCode::CompileError, [] {
        (void)kernel_from_glsl<Buff<float>>("broken", "#version 450\nvoid main() {\n  nonsense = 1;\n}");
    });
    expect_contains(text, "broken:3");
    expect_contains(text, "nonsense");
}

TEST(RawKernel, ParametersMustMatchTheModule) {
    VOLLEY_NEEDS_GLSL();
    const auto refused = []<class... P>(Kernel<P...>*) {
        return error_of(ErrorCode::CompileError, [] { (void)kernel_from_glsl<P...>("scale", scale_source); });
    };
    expect_contains(refused(static_cast<Kernel<Buff<float>>*>(nullptr)), "1 members, but 0 values");
    expect_contains(refused(static_cast<Kernel<Const<float>>*>(nullptr)),
                    "binding 0, but there are 0 buffers");
    expect_contains(refused(static_cast<Kernel<Buff<float>, Const<double>>*>(nullptr)),
                    "parameter 2 has 8 bytes (f64), but its push constant has 4");
}

TEST(RawKernel, InvalidSpirvThrows) {
    const std::vector<std::uint32_t> words(100, 7);
    expect_contains(
        error_of(ErrorCode::CompileError, [&] { (void)kernel_from_spirv<Buff<float>>("no", words); }),
        "it is not SPIR-V");
}

}  // namespace
}  // namespace volley::testing
