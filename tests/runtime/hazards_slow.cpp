// Compares hazards with their definition, in enumerations too large for hazards_test.cpp.
#include "support/hazards_model.hpp"
#include "support/random.hpp"
#include "support/sanitized.hpp"

#include <gtest/gtest.h>

namespace volley::testing {
namespace {

void expect_none_wrong(const Checked& checked, std::uint64_t at_least) {
    EXPECT_EQ(checked.failure, "");
    EXPECT_GE(checked.programs, at_least);
}

TEST(HazardsSlow, OrderAllProgramsOfFourCommandsWithTwoAccesses) {
    const auto units = unless_sanitized(3u, 2u);
    expect_none_wrong(check_all_maps({.commands = 4, .resources = 2, .units = units, .accesses = 2}),
                      unless_sanitized(100'000'000u, 1'000'000u));
}

TEST(HazardsSlow, OrderAllProgramsOfFourCommandsWithTwoAccessesOnDisturbedLanes) {
    expect_none_wrong(
        check_all_maps(
            {.commands = 4, .resources = 2, .units = 2, .accesses = 2, .lanes = 2, .disturbed = true}),
        10'000'000);
    expect_none_wrong(
        check_all_maps(
            {.commands = 4, .resources = 1, .units = 3, .accesses = 2, .lanes = 2, .disturbed = true}),
        10'000'000);
}

TEST(HazardsSlow, OrderAllProgramsOfFiveCommands) {
    expect_none_wrong(
        check_all_maps({.commands = 5, .resources = 2, .units = 2, .lanes = 3, .disturbed = true}),
        10'000'000);
}

TEST(HazardsSlow, OrderAllGraphsOfThreeCommandsWithTwoAccesses) {
    const auto units = unless_sanitized(3u, 2u);
    expect_none_wrong(
        check_all_orders({.commands = 3, .resources = 2, .units = units, .accesses = 2, .fences = true}),
        unless_sanitized(1'000'000u, 100'000u));
}

TEST(HazardsSlow, OrderAllGraphsOfFiveCommandsOfOneResource) {
    expect_none_wrong(check_all_orders({.commands = 5, .resources = 1, .units = 3, .fences = true}), 300'000);
    expect_none_wrong(
        check_all_orders({.commands = 5, .resources = 1, .units = 2, .accesses = 2, .fences = true}),
        1'000'000);
}

TEST(HazardsSlow, OrderManyRandomPrograms) {
    for (std::uint64_t i = 0; i < 200; ++i) {
        const std::uint64_t seed = seed_or(1000 + i);
        Random random(seed);
        const RandomPrograms programs{.seed = seed,
                                      .commands = static_cast<unsigned>(random.between(100, 2000)),
                                      .resources = static_cast<unsigned>(random.between(1, 5)),
                                      .units = static_cast<unsigned>(random.between(1, 400)),
                                      .accesses = static_cast<unsigned>(random.between(1, 5)),
                                      .longest = static_cast<unsigned>(random.between(1, 100)),
                                      .lanes = static_cast<unsigned>(random.below(9))};
        expect_none_wrong(check_random_maps(programs), 1);
        expect_none_wrong(check_random_orders(programs), 1);
    }
}

}  // namespace
}  // namespace volley::testing
