// Random programs on Vulkan and OpenCL devices, compared with the interpreter. Programs that need a missing
// feature are skipped; devices that flush subnormals get programs without floats.
#include "backends/opencl/opencl_driver.hpp"
#include "backends/vulkan/vulkan_driver.hpp"
#include "core/text.hpp"
#include "ir/verifier.hpp"
#include "passes/pipeline.hpp"
#include "random/execution.hpp"
#include "random/generator.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

#include <volley/error.hpp>

#include <gtest/gtest.h>

namespace volley::testing {
namespace {

constexpr auto device_programs = unless_sanitized<std::uint64_t>(200, 40);
constexpr auto few_programs =
    unless_sanitized<std::uint64_t>(40, 10);  // each takes a third of a second to compile there

std::unique_ptr<backends::Device> open(backends::Driver& driver, std::string_view name) {
    for (const DeviceInfo& info : driver.devices()) {
        if (info.name.find(name) != std::string::npos) return driver.open(info.index, {});
    }
    return nullptr;
}

void run_all(backends::Driver& driver, std::string_view name, bool floats, std::uint64_t count) {
    const std::unique_ptr<backends::Device> device = open(driver, name);
    if (!device) GTEST_SKIP() << "this machine has no device " << driver.name() << " " << name;
    const std::uint64_t first = seed_or(1);
    const std::uint64_t end = std::getenv("VOLLEY_SEED") != nullptr ? first + 1 : first + count;
    unsigned refused = 0;
    for (std::uint64_t seed = first; seed < end; ++seed) {
        GeneratorOptions options = options_for(seed);
        if (!floats) options.floats = options.functions = false;
        const Program program = generate(seed, options);
        ir::Function fn = program.fn;
        passes::clean(fn);
        if (device->info().fused_fma) passes::contract(fn);
        try {
            const Execution expected = run_reference(program, fn, device->info().subgroup_size);
            const Execution actual = run_on(*device, program, fn);
            const auto what = difference(program, expected, actual);
            ASSERT_FALSE(what) << "seed " << seed << ": " << *what << "\n" << describe(program);
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::Unsupported) << "seed " << seed << ": " << error.what();
            ++refused;
        }
    }
    EXPECT_LT(refused, count / 2);
}

TEST(RandomDevices, LavapipeAgreesWithTheInterpreter) {
    run_all(*backends::vulkan::make_driver(), "llvmpipe", true, device_programs);
}
TEST(RandomDevices, SwiftShaderAgreesWithTheInterpreter) {
    run_all(*backends::vulkan::make_driver(), "SwiftShader", false, device_programs);
}
TEST(RandomDevices, OpenClAgreesWithTheInterpreter) {
    run_all(*backends::opencl::make_driver(), "", true, few_programs);
}

}  // namespace
}  // namespace volley::testing
