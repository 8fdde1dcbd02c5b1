// The order of the commands of a graph: individual cases, then comparison with the definition.
#include "runtime/command_order.hpp"
#include "support/hazards_model.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace volley::runtime {
namespace {

using testing::check_all_orders;
using testing::check_random_orders;
using testing::resource_at;
using After = std::vector<std::uint32_t>;

Access read_of(unsigned r, ByteRange range = {0, 16}) { return {resource_at(r), range, false}; }
Access write_of(unsigned r, ByteRange range = {0, 16}) { return {resource_at(r), range, true}; }

TEST(CommandOrder, IndependentCommandsShareALevel) {
    CommandOrder order;
    EXPECT_EQ(order.levels(), 0u);
    EXPECT_EQ(order.add({write_of(0)}), 0u);
    EXPECT_EQ(order.add({write_of(1)}), 1u);
    EXPECT_EQ(order.add({}), 2u);
    EXPECT_EQ(order.size(), 3u);
    EXPECT_EQ(order.levels(), 1u);
    for (std::uint32_t c = 0; c < 3; ++c) EXPECT_EQ(order.after(c), After{});
}

TEST(CommandOrder, HalvesOfABufferAreIndependentAndTheWholeFollowsBoth) {
    CommandOrder order;
    order.add({write_of(0, {0, 8})});
    order.add({write_of(0, {8, 16})});
    order.add({read_of(0)});
    EXPECT_EQ(order.after(1), After{});
    EXPECT_EQ(order.after(2), (After{0, 1}));
    EXPECT_EQ(order.level(2), 1u);
}

TEST(CommandOrder, AChainHasOneLevelPerCommand) {
    CommandOrder order;
    for (std::uint32_t c = 0; c < 5; ++c) {
        order.add({read_of(c), write_of(c + 1)});
        EXPECT_EQ(order.level(c), c);
        EXPECT_EQ(order.after(c), c == 0 ? After{} : After{c - 1});
    }
    EXPECT_EQ(order.levels(), 5u);
}

TEST(CommandOrder, ReadersOfOneWriteShareALevelAndTheNextWriteFollowsAllOfThem) {
    CommandOrder order;
    order.add({write_of(0)});
    for (int i = 0; i < 3; ++i) order.add({read_of(0)});
    order.add({write_of(0)});
    EXPECT_EQ(order.level(3), 1u);
    EXPECT_EQ(order.after(4), (After{1, 2, 3}));
    EXPECT_EQ(order.level(4), 2u);
}

TEST(CommandOrder, ImpliedDependenciesAreLeftOut) {
    CommandOrder order;
    order.add({write_of(0), write_of(1)});
    order.add({read_of(0), write_of(2)});
    order.add({read_of(1), read_of(2)});
    EXPECT_EQ(order.after(2), After{1}) << "1 follows 0";
}

TEST(CommandOrder, ABufferBoundTwiceCountsAsOneUse) {
    CommandOrder order;
    order.add({read_of(0), write_of(0, {4, 8})});
    order.add({read_of(0, {0, 4})});
    order.add({read_of(0, {6, 10})});
    EXPECT_EQ(order.after(0), After{}) << "no command follows itself";
    EXPECT_EQ(order.after(1), After{});
    EXPECT_EQ(order.after(2), After{0});
}

TEST(CommandOrder, AFenceFollowsAllEarlierCommandsAndPrecedesAllLaterOnes) {
    CommandOrder order;
    order.add({write_of(0)});
    order.add({read_of(0)});
    order.add({write_of(1)});
    EXPECT_EQ(order.add_fence(), 3u);
    order.add({write_of(2)});
    order.add({write_of(0)});
    order.add({read_of(0)});
    EXPECT_EQ(order.after(3), (After{1, 2})) << "1 follows 0";
    EXPECT_EQ(order.level(3), 2u);
    EXPECT_EQ(order.after(4), After{3});
    EXPECT_EQ(order.after(5), After{3}) << "the fence implies the uses before it";
    EXPECT_EQ(order.after(6), After{5});
}

TEST(CommandOrder, ConsecutiveFencesFollowEachOther) {
    CommandOrder order;
    order.add_fence();
    order.add_fence();
    order.add({write_of(0)});
    order.add_fence();
    EXPECT_EQ(order.after(0), After{});
    EXPECT_EQ(order.after(1), After{0});
    EXPECT_EQ(order.after(2), After{1});
    EXPECT_EQ(order.after(3), After{2});
    EXPECT_EQ(order.levels(), 4u);
}

void expect_ordered(const testing::Checked& checked, std::uint64_t at_least) {
    EXPECT_EQ(checked.failure, "");
    EXPECT_GE(checked.programs, at_least);
}

TEST(CommandOrder, MatchesTheDefinitionForAllSmallPrograms) {
    expect_ordered(
        check_all_orders({.commands = 3, .resources = 1, .units = 3, .accesses = 2, .fences = true}),
        100'000);
    expect_ordered(
        check_all_orders({.commands = 4, .resources = 1, .units = 2, .accesses = 2, .fences = true}),
        100'000);
    expect_ordered(check_all_orders({.commands = 5, .resources = 2, .units = 2, .fences = true}), 100'000);
}

TEST(CommandOrder, MatchesTheDefinitionForLongRandomPrograms) {
    for (std::uint64_t i = 0; i < 6; ++i)
        expect_ordered(check_random_orders({.seed = testing::seed_or(200 + i), .commands = 500}), 1);
    expect_ordered(
        check_random_orders({.seed = testing::seed_or(3), .commands = 2000, .units = 500, .longest = 20}), 1);
}

}  // namespace
}  // namespace volley::runtime
