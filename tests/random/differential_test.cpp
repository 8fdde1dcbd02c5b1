// Random programs on the interpreter, through the passes and on compiled code at all widths. A failure prints
// the seed and the minimised program; VOLLEY_SEED=n runs that one program. `volley_random --minutes N` runs
// for longer.
#include "random/differential.hpp"
#include "random/generator.hpp"
#include "random/isolated.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace volley::testing {
namespace {

constexpr std::uint64_t first_seed = 1;

// Runs the seeds in a child, so that a crash of compiled code still names its seed.
void run_seeds(std::uint64_t begin, std::uint64_t end, const DifferentialOptions& options) {
    if (std::getenv("VOLLEY_SEED") != nullptr) {
        begin = seed_or(begin);
        end = begin + 1;
    }
    const Outcome outcome = run_in_child(
        [&](volatile std::uint64_t& progress) {
            for (std::uint64_t seed = begin; seed < end; ++seed) {
                progress = seed;
                const Program program = generate(seed, options_for(seed));
                if (check(program, options)) throw std::runtime_error("found one");
            }
        },
        300);
    if (outcome.ended_well) return;
    const Program program = generate(outcome.progress, options_for(outcome.progress));
    const auto failure = check_isolated(program, options);
    ASSERT_FALSE(failure) << report_isolated(program, *failure, options);
    FAIL() << "seed " << outcome.progress << ": " << outcome.how << ", but not when it runs alone";
}

class RandomPrograms : public ::testing::TestWithParam<unsigned> {};

// In slices, which ctest's shards share out.
constexpr unsigned slices = 8;
constexpr auto share = unless_sanitized<std::uint64_t>(1, 5);
constexpr std::uint64_t pass_programs = 2400 / share;
constexpr std::uint64_t cpu_programs = 160 / share;        // at all widths
constexpr std::uint64_t cpu_programs_once = 1200 / share;  // at one each

TEST_P(RandomPrograms, MeanTheSameAfterEveryPass) {
    const std::uint64_t n = pass_programs / slices;
    run_seeds(first_seed + GetParam() * n, first_seed + (GetParam() + 1) * n, {.cpu = false});
}

TEST_P(RandomPrograms, RunAlikeOnTheCpuAtAllWidths) {
    const std::uint64_t n = cpu_programs / slices;
    run_seeds(first_seed + GetParam() * n, first_seed + (GetParam() + 1) * n, {.passes = false});
}

TEST_P(RandomPrograms, RunAlikeOnTheCpuAtOneWidthEach) {
    const unsigned width = DifferentialOptions{}.widths[GetParam() % 4];
    const std::uint64_t n = cpu_programs_once / slices;
    const std::uint64_t begin = first_seed + cpu_programs + GetParam() * n;
    run_seeds(begin, begin + n, {.passes = false, .widths = {width}});
}

INSTANTIATE_TEST_SUITE_P(Slice, RandomPrograms, ::testing::Range(0u, slices));

TEST(RandomGenerator, GivesTheSameProgramForTheSameSeed) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        EXPECT_EQ(describe(generate(seed, options_for(seed))), describe(generate(seed, options_for(seed))));
    }
}

}  // namespace
}  // namespace volley::testing
