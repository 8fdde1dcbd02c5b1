// Random programs as modules for every target: each is valid, or rejected with a clear message.
#include "codegen/spirv_support.hpp"
#include "random/generator.hpp"

namespace volley::test {
namespace {

constexpr std::uint64_t programs = 300;

class SpirvRandom : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SpirvRandom, ProgramsAreValidModules) {
    if (!can_validate()) GTEST_SKIP() << "built without SPIRV-Tools";
    const spirv::Target target = all_targets()[GetParam()];
    unsigned refused = 0;
    for (std::uint64_t seed = 1; seed <= programs; ++seed) {
        const testing::Program program = testing::generate(seed, testing::options_for(seed));
        ir::Function fn = program.fn;
        passes::optimise(fn);
        try {
            const spirv::Module module = spirv::compile(
                fn, {program.local, seed % 3 == 0, seed % 5 == 0, false, seed % 2 == 0}, target);
            ASSERT_EQ(objections(module.words), "") << "seed " << seed << ", " << target.device << '\n'
                                                    << testing::describe(program);
        } catch (const DeviceError& error) {
            ASSERT_EQ(error.code(), ErrorCode::Unsupported) << error.what();
            ++refused;
        }
    }
    if (target.f64) {
        EXPECT_EQ(refused, 0u);
    } else {
        EXPECT_LT(refused, programs / 2);
    }
}

INSTANTIATE_TEST_SUITE_P(Target, SpirvRandom, ::testing::Range<std::size_t>(0, 4));

}  // namespace
}  // namespace volley::test
