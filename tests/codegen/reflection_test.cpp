// Reflection of foreign modules; malformed ones must be rejected safely.
#include "codegen/spirv/reflection.hpp"

#include "codegen/glsl/glsl_compiler.hpp"
#include "support/expect_error.hpp"
#include "support/needs_glsl.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

namespace volley::testing {
namespace {

using codegen::spirv::reflect;
using codegen::spirv::Reflection;
using Words = std::vector<std::uint32_t>;

Words words_of(std::string_view body) {
    return codegen::glsl::compile("test", std::string("#version 450\n") + std::string(body));
}

Reflection reflected(std::string_view body) { return reflect(words_of(body), "main", "test"); }

TEST(Reflection, FindsBindingsValuesAndTheWorkgroupSize) {
    VOLLEY_NEEDS_GLSL();
    const Reflection found = reflected(R"(
        layout(local_size_x = 8, local_size_y = 4) in;
        layout(binding = 1) buffer B { float b[]; };
        layout(binding = 0) readonly buffer A { vec4 a[]; };
        layout(push_constant) uniform Values { uint n; vec3 v; mat2 m; float f[3]; };
        void main() { b[gl_GlobalInvocationID.x] = a[0].x + v.x + m[0].x + f[2] + float(n); })");
    EXPECT_EQ(found.local, (ir::Dim3{8, 4, 1}));
    EXPECT_EQ(found.bindings, (std::vector<std::uint32_t>{0, 1}));
    ASSERT_EQ(found.push.size(), 4u);
    EXPECT_EQ(found.push[0].offset, 0u);
    EXPECT_EQ(found.push[0].size, 4u);
    EXPECT_EQ(found.push[1].offset, 16u);
    EXPECT_EQ(found.push[1].size, 12u);
    EXPECT_EQ(found.push[2].size, 16u);
    EXPECT_EQ(found.push[3].size, 12u);
    EXPECT_EQ(found.push_bytes, found.push[3].offset + 12);
}

TEST(Reflection, FindsBufferReferences) {
    VOLLEY_NEEDS_GLSL();
    const Reflection found = reflected(R"(
        #extension GL_EXT_buffer_reference : require
        layout(local_size_x = 64) in;
        layout(buffer_reference) buffer Data { float x[]; };
        layout(push_constant) uniform Values { Data data; float alpha; };
        void main() { data.x[gl_GlobalInvocationID.x] *= alpha; })");
    EXPECT_TRUE(found.bindings.empty());
    ASSERT_EQ(found.push.size(), 2u);
    EXPECT_TRUE(found.push[0].pointer);
    EXPECT_EQ(found.push[0].size, 8u);
    EXPECT_FALSE(found.push[1].pointer);
    EXPECT_EQ(found.push[1].offset, 8u);
}

TEST(Reflection, UsesTheDefaultOfASpecialisedWorkgroupSize) {
    VOLLEY_NEEDS_GLSL();
    EXPECT_EQ(reflected("layout(local_size_x_id = 3, local_size_y = 2) in; void main() {}").local,
              (ir::Dim3{1, 2, 1}));
}

TEST(Reflection, RejectsUnsupportedResources) {
    VOLLEY_NEEDS_GLSL();
    const auto refused = [](std::string_view body) {
        return error_of(ErrorCode::CompileError, [&] { (void)reflected(body); });
    };
    EXPECT_NE(
        refused("layout(binding = 0) uniform U { float x; }; layout(binding = 1) buffer B { float b[]; };"
                "void main() { b[0] = x; }")
            .find("uniform buffer"),
        std::string::npos);
    EXPECT_NE(refused("layout(set = 1, binding = 0) buffer B { float b[]; }; void main() { b[0] = 1; }")
                  .find("descriptor set"),
              std::string::npos);
    EXPECT_NE(refused("layout(binding = 0) buffer B { float b[]; } all[4]; void main() { all[0].b[0] = 1; }")
                  .find("array of buffers"),
              std::string::npos);
    const Words words = words_of("void main() {}");
    EXPECT_NE(error_of(ErrorCode::CompileError, [&] { (void)reflect(words, "other", "test"); }).find("other"),
              std::string::npos);
}

TEST(Reflection, RejectsInputThatIsNotSpirv) {
    const auto refused = [](const Words& words) {
        return error_of(ErrorCode::CompileError, [&] { (void)reflect(words, "main", "test"); });
    };
    EXPECT_NE(refused({}).find("not SPIR-V"), std::string::npos);
    EXPECT_NE(refused({1, 2, 3, 4, 5, 6}).find("not SPIR-V"), std::string::npos);
    EXPECT_NE(refused({0x03022307, 0, 0, 0, 0}).find("byte order"), std::string::npos);
    EXPECT_NE(refused({0x07230203, 0x00010500, 0, 1, 0, 0}).find("malformed"), std::string::npos);
}

TEST(Reflection, MalformedModulesAreHandledSafely) {
    VOLLEY_NEEDS_GLSL();
    const Words good = words_of(R"(
        layout(local_size_x = 64) in;
        struct S { vec3 a; float b[4]; };
        layout(binding = 0) buffer B { S b[]; };
        layout(push_constant) uniform Values { S s; mat3 m; uint n; };
        void main() { b[n].a = m * s.a; })");
    const auto survive = [](const Words& words) {
        try {
            (void)reflect(words, "main", "test");
        } catch (const CompileError&) {
            // Rejecting the module is as good as accepting it.
        }
    };
    for (std::size_t n = 0; n < good.size(); ++n)
        survive(Words(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n)));
    Random random(seed_or(1));
    for (int round = 0; round < 20000; ++round) {
        Words words = good;
        for (unsigned k = 0; k <= random.below(3); ++k) {
            std::uint32_t& word = words[random.below(static_cast<std::uint32_t>(words.size()))];
            word = random.chance(50) ? word ^ (1u << random.below(32))
                                     : static_cast<std::uint32_t>(random.below(64));
        }
        survive(words);
    }
}

}  // namespace
}  // namespace volley::testing
