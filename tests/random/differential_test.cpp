// Random programs on the interpreter, through the passes and on compiled code at all widths. A failure prints
// the seed and the minimised program; VOLLEY_SEED=n runs that one program, VOLLEY_FIRST_SEED=n starts at
// another seed. `volley_random --minutes N` runs for longer.
#include "random/differential.hpp"
#include "random/generator.hpp"
#include "random/isolated.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace volley::testing {
namespace {

using OptionsFor = GeneratorOptions (*)(std::uint64_t seed);

/// Runs `count` seeds per slice, in a child process, so a crash of compiled code still reports its seed.
void run_slice(unsigned slice, std::uint64_t count, const DifferentialOptions& options,
               OptionsFor options_of) {
    const std::uint64_t first_seed = first_seed_or(1);
    std::uint64_t begin = first_seed + slice * count;
    std::uint64_t end = begin + count;
    if (std::getenv("VOLLEY_SEED") != nullptr) {
        begin = seed_or(begin);
        end = begin + 1;
    }
    const Outcome outcome = run_in_child(
        [&](volatile std::uint64_t& progress) {
            for (std::uint64_t seed = begin; seed < end; ++seed) {
                progress = seed;
                const Program program = generate(seed, options_of(seed));
                if (check(program, options)) throw std::runtime_error("found one");
            }
        },
        300);
    if (outcome.ended_well) return;
    SCOPED_TRACE("VOLLEY_FIRST_SEED=" + std::to_string(first_seed));
    const Program program = generate(outcome.progress, options_of(outcome.progress));
    const auto failure = check_isolated(program, options);
    ASSERT_FALSE(failure) << report_isolated(program, *failure, options);
    FAIL() << "seed " << outcome.progress << ": " << outcome.how << ", but not when it runs alone";
}

class RandomPrograms : public ::testing::TestWithParam<unsigned> {};

// Slices are distributed over ctest's shards.
constexpr unsigned slices = 8;
constexpr auto share = unless_sanitized<std::uint64_t>(1, 5);
constexpr std::uint64_t pass_programs = 2400 / share;
constexpr std::uint64_t short_programs = 2000 / share;  // at all widths
constexpr std::uint64_t cpu_programs = 320 / share;     // at one width each
constexpr std::uint64_t old_processor_programs = 400 / share;

TEST_P(RandomPrograms, HaveTheSameResultsAfterEveryPass) {
    run_slice(GetParam(), pass_programs / slices, {.cpu = false}, options_for);
}

TEST_P(RandomPrograms, AgreeOnTheCpuAtAllWidths) {
    run_slice(GetParam(), short_programs / slices, {.passes = false, .both_forms = 5}, short_options_for);
}

TEST_P(RandomPrograms, OfAnyLengthAgreeOnTheCpuAtOneWidthEach) {
    const unsigned width = DifferentialOptions{}.widths[GetParam() % 4];
    run_slice(GetParam(), cpu_programs / slices, {.passes = false, .widths = {width}}, options_for);
}

#if defined(__x86_64__)
// Processors without FMA, rounding, gather or mask instructions, and with half of them.
TEST_P(RandomPrograms, AgreeOnOlderProcessors) {
    const char* const processor = GetParam() % 2 == 0 ? "x86-64" : "x86-64-v2";
    run_slice(GetParam(), old_processor_programs / slices,
              {.passes = false, .widths = {4}, .processor = processor}, short_options_for);
}
#endif

INSTANTIATE_TEST_SUITE_P(Slice, RandomPrograms, ::testing::Range(0u, slices));

TEST(RandomGenerator, ReturnsTheSameProgramForTheSameSeed) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        EXPECT_EQ(describe(generate(seed, options_for(seed))), describe(generate(seed, options_for(seed))));
    }
}

}  // namespace
}  // namespace volley::testing
