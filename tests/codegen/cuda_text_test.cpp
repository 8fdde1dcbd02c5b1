// The generated CUDA C++: clang compiles it to PTX without an SDK, and NVRTC does if it is installed.
#include "codegen/operations.hpp"
#include "codegen/text_support.hpp"
#include "core/text.hpp"
#include "ir/samples.hpp"
#include "random/generator.hpp"
#include "support/sanitized.hpp"

#include <gmock/gmock.h>

namespace volley::test {
namespace {

using ::testing::HasSubstr;

std::vector<cuda::Source> operations(const cuda::Target& target) {
    std::vector<cuda::Source> sources;
    for (const ScalarType s : all_scalars()) {
        sources.push_back(cuda::compile(operations_on(s), line_of_64, target));
        sources.push_back(cuda::compile(operations_on(DType::vector(s, 3)), line_of_64, target));
        sources.push_back(cuda::compile(conversions_from(s), line_of_64, target));
        sources.push_back(cuda::compile(subgroup_operations_on(s), line_of_64, target));
        sources.push_back(cuda::compile(accesses_to(DType::vector(s, 3)), {{4, 1, 1}, true}, target));
        const StructField packed[] = {{"tag", ScalarType::U8, 0}, {"value", DType::vector(s, 2), 1}};
        const DType odd = DType::structure(cat("Packed", name_of(s)), packed, 1 + 2 * size_of(s), 1);
        sources.push_back(cuda::compile(accesses_to(odd), {{4, 1, 1}, true}, target));
        if (is_float(s))
            sources.push_back(cuda::compile(operations_on(DType::complex(s)), line_of_64, target));
        if (s != ScalarType::Bool && s != ScalarType::F16 && size_of(s) >= 4)
            sources.push_back(cuda::compile(atomics_on(s), {{8, 1, 1}, true}, target));
    }
    sources.push_back(cuda::compile(ir::every_op_function(), {{8, 4, 2}, true}, target));
    return sources;
}

std::vector<cuda::Source> random_programs(const cuda::Target& target, std::uint64_t first,
                                          std::uint64_t programs) {
    std::vector<cuda::Source> sources;
    for (std::uint64_t seed = first; seed < first + programs; ++seed) {
        const testing::Program program = testing::generate(seed, testing::options_for(seed));
        ir::Function fn = program.fn;
        passes::optimise(fn);
        sources.push_back(cuda::compile(fn, {program.local, seed % 3 == 0}, target));
    }
    return sources;
}

TEST(CudaText, EveryOperationOnEveryTypeBecomesPtx) {
    const std::vector<cuda::Source> sources = operations({"cuda:0", 75});
    if (!has_clang()) GTEST_SKIP() << "built without clang: text is written, but not checked";
    EXPECT_EQ(objections(sources, 75), "");
}

TEST(CudaText, RandomProgramsBecomePtx) {
    if (!has_clang()) GTEST_SKIP() << "built without clang";
    EXPECT_EQ(objections(random_programs({"cuda:0", 75}, 1, 60), 75), "");
    EXPECT_EQ(objections(random_programs({"cuda:0", 86}, 61, 60), 86), "");  // the newest that clang supports
}

TEST(CudaText, NvrtcCompilesEverything) {
    if (!has_nvrtc()) GTEST_SKIP() << "this machine has no NVRTC (libnvrtc.so)";
    if (testing::sanitized) GTEST_SKIP() << "what NVRTC says does not depend on how we are compiled";
    EXPECT_EQ(nvrtc_objections(operations({"cuda:0", 75})), "");
    EXPECT_EQ(nvrtc_objections(random_programs({"cuda:0", 75}, 1, 20)), "");
    EXPECT_EQ(nvrtc_objections(random_programs({"cuda:0", 90}, 21, 20)), "");
}

TEST(CudaText, ReadsLikeTheKernel) {
    const cuda::Source source = cuda::compile(ir::scale_function(), full_64, {});
    EXPECT_EQ(line_with(source, "data[global_id_x] ="),
              "data[global_id_x] = __fmul_rn(data[global_id_x], alpha);");
    EXPECT_TRUE(has(source, "extern \"C\" __global__ void __launch_bounds__(64)"));
    EXPECT_TRUE(has(source, "const u32 global_id_x = blockIdx.x * 64u + threadIdx.x;"));
    EXPECT_FALSE(has(source, "#include"));
    EXPECT_FALSE(has(source, "return"));
    EXPECT_THAT(source.options, HasSubstr("--fmad=false"));
}

TEST(CudaText, ProductsAndSumsRoundSeparately) {
    ir::Function fn = lang::trace_kernel("tested", [](Buff<float> data) {
                          const auto i = global_id().x;
                          data[i] = data[i] * 3.0f + 1.0f;
                      }).function();
    passes::clean(fn);
    const cuda::Source source = cuda::compile(fn, full_64, {});
    EXPECT_TRUE(has(source, "__fmul_rn(arg0[global_id_x], 3.0f) + 1.0f")) << source.text;
    if (!has_clang()) GTEST_SKIP() << "built without clang";
    EXPECT_EQ(ptx_of(source, 75).find("fma.rn"), std::string::npos);
}

TEST(CudaText, SubgroupsAreWarps) {
    const cuda::Source source = cuda::compile(
        text_traced([](Buff<unsigned> data) { data[global_id().x] = subgroup_add(data[global_id().x]); }),
        {{8, 8, 1}, true}, {});
    EXPECT_TRUE(has(source, "__shfl_xor_sync"));
    EXPECT_TRUE(has(source, "__activemask()"));
}

}  // namespace
}  // namespace volley::test
