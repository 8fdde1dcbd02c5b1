// The rules of hazards: individual cases, then comparison with the definition, by enumeration and with large
// random programs.
#include "runtime/hazards.hpp"
#include "core/text.hpp"
#include "support/hazards_model.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace volley::runtime {
namespace {

using testing::check_all_maps;
using testing::check_random_maps;
using testing::Checked;
using testing::describe;
using testing::painted;
using testing::Random;
using testing::resource_at;

constexpr bool reading = false;
constexpr bool writing = true;

/// Returns the uses that an access to the range must follow, as "lane:point", sorted and without duplicates.
std::string followed(const AccessMap& map, const ByteRange& range, bool writes) {
    std::vector<std::pair<unsigned, std::uint64_t>> uses;
    map.conflicts(range, writes, [&](const Use& use) { uses.emplace_back(use.lane, use.point); });
    std::sort(uses.begin(), uses.end());
    uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
    std::string text;
    for (const auto& [lane, point] : uses) text += cat(text.empty() ? "" : " ", lane, ":", point);
    return text;
}
std::string a_read_follows(const AccessMap& map, const ByteRange& range) {
    return followed(map, range, reading);
}
std::string a_write_follows(const AccessMap& map, const ByteRange& range) {
    return followed(map, range, writing);
}

TEST(Ranges, IntersectIfTheyShareAUnit) {
    EXPECT_FALSE(intersects({0, 8}, {8, 16}));
    EXPECT_TRUE(intersects({0, 9}, {8, 16}));
    EXPECT_TRUE(intersects({0, 16}, {4, 5}));
    EXPECT_FALSE(intersects({5, 5}, {0, 16})) << "an empty range has no units";
    EXPECT_FALSE(intersects({0, 16}, {5, 5}));
}

TEST(AccessMap, AFirstUseFollowsNothing) {
    const AccessMap map;
    EXPECT_EQ(a_read_follows(map, {0, 8}), "");
    EXPECT_EQ(a_write_follows(map, {0, 8}), "");
    EXPECT_EQ(map.pieces(), 0u);
}

TEST(AccessMap, AReadFollowsTheLastWriteAndNoOtherRead) {
    AccessMap map;
    map.add({0, 8}, writing, {0, 1});
    map.add({0, 8}, writing, {1, 1});
    map.add({0, 8}, reading, {2, 1});
    EXPECT_EQ(a_read_follows(map, {0, 8}), "1:1");
}

TEST(AccessMap, AWriteFollowsTheReadsSinceTheLastWrite) {
    AccessMap map;
    map.add({0, 8}, reading, {3, 1});
    map.add({0, 8}, writing, {0, 1});
    map.add({0, 8}, reading, {1, 1});
    map.add({0, 8}, reading, {2, 1});
    EXPECT_EQ(a_write_follows(map, {0, 8}), "1:1 2:1")
        << "the reads follow the write, which follows the earlier read";
}

TEST(AccessMap, AWriteWithoutReadsInBetweenFollowsTheLastWrite) {
    AccessMap map;
    map.add({0, 8}, writing, {0, 1});
    EXPECT_EQ(a_write_follows(map, {0, 8}), "0:1");
}

TEST(AccessMap, RangesThatOnlyTouchAreIndependent) {
    AccessMap map;
    map.add({0, 8}, writing, {0, 1});
    EXPECT_EQ(a_write_follows(map, {8, 16}), "");
    EXPECT_EQ(a_write_follows(map, {7, 16}), "0:1") << "[0, 8) and [7, 16) share a unit";
    map.add({8, 16}, writing, {1, 1});
    EXPECT_EQ(a_read_follows(map, {0, 8}), "0:1");
    EXPECT_EQ(a_read_follows(map, {8, 16}), "1:1");
    EXPECT_EQ(a_read_follows(map, {0, 9}), "0:1 1:1");
}

TEST(AccessMap, APartialOverwriteKeepsTheRestOfTheOlderRange) {
    AccessMap map;
    map.add({0, 8}, writing, {0, 1});
    map.add({4, 12}, writing, {1, 1});
    EXPECT_EQ(a_read_follows(map, {0, 4}), "0:1");
    EXPECT_EQ(a_read_follows(map, {4, 8}), "1:1");
    EXPECT_EQ(a_read_follows(map, {8, 12}), "1:1");
    EXPECT_EQ(map.pieces(), 2u);
}

TEST(AccessMap, AWriteInTheMiddleSplitsAPiece) {
    AccessMap map;
    map.add({0, 16}, writing, {0, 1});
    map.add({0, 16}, reading, {1, 1});
    map.add({4, 8}, writing, {2, 1});
    EXPECT_EQ(map.pieces(), 3u);
    EXPECT_EQ(a_write_follows(map, {0, 4}), "1:1");
    EXPECT_EQ(a_write_follows(map, {4, 8}), "2:1");
    EXPECT_EQ(a_write_follows(map, {8, 16}), "1:1") << "the state after it is unchanged";
    EXPECT_EQ(a_read_follows(map, {8, 16}), "0:1");
}

TEST(AccessMap, AReadOfAPartAffectsOnlyThatPart) {
    AccessMap map;
    map.add({0, 16}, writing, {0, 1});
    map.add({4, 8}, reading, {1, 1});
    EXPECT_EQ(a_write_follows(map, {0, 4}), "0:1");
    EXPECT_EQ(a_write_follows(map, {0, 5}), "0:1 1:1");
    EXPECT_EQ(a_write_follows(map, {4, 8}), "1:1");
}

TEST(AccessMap, AUseFillsTheGapsBetweenOthers) {
    AccessMap map;
    map.add({2, 4}, writing, {0, 1});
    map.add({6, 8}, writing, {1, 1});
    map.add({0, 10}, reading, {2, 1});
    EXPECT_EQ(map.pieces(), 5u);
    for (std::uint64_t unit = 0; unit < 10; ++unit) EXPECT_EQ(a_write_follows(map, {unit, unit + 1}), "2:1");
    EXPECT_EQ(a_read_follows(map, {4, 6}), "");
    EXPECT_EQ(a_read_follows(map, {0, 10}), "0:1 1:1");
}

TEST(AccessMap, PiecesThatBecomeEqualAreJoined) {
    AccessMap map;
    map.add({0, 4}, writing, {0, 1});
    map.add({8, 12}, writing, {0, 1});
    EXPECT_EQ(map.pieces(), 2u) << "they do not touch";
    map.add({4, 8}, writing, {0, 1});
    EXPECT_EQ(map.pieces(), 1u);
    map.add({4, 8}, reading, {1, 1});
    EXPECT_EQ(map.pieces(), 3u);
    map.add({0, 12}, writing, {2, 1});
    EXPECT_EQ(map.pieces(), 1u) << "a write makes its range one piece";
}

TEST(AccessMap, TheOrderOfReadersDoesNotMatter) {
    AccessMap map;
    map.add({0, 4}, reading, {0, 1});
    map.add({4, 8}, reading, {2, 1});
    map.add({4, 8}, reading, {1, 1});
    map.add({4, 8}, reading, {0, 1});
    map.add({0, 4}, reading, {1, 1});
    map.add({0, 4}, reading, {2, 1});
    EXPECT_EQ(map.pieces(), 1u);
    EXPECT_EQ(a_write_follows(map, {0, 8}), "0:1 1:1 2:1");
}

TEST(AccessMap, OnlyTheLastReadOfALaneIsKept) {
    AccessMap map;
    for (std::uint64_t point = 1; point <= 3; ++point) {
        map.add({0, 8}, reading, {0, point});
        map.add({0, 8}, reading, {1, point});
    }
    EXPECT_EQ(a_write_follows(map, {0, 8}), "0:3 1:3");
}

TEST(AccessMap, UsesOfALaneMayBeAddedOutOfOrder) {
    AccessMap map;
    map.add({0, 8}, writing, {0, 3});
    map.add({0, 8}, writing, {0, 2});
    EXPECT_EQ(a_read_follows(map, {0, 8}), "0:3") << "the earlier write was overwritten";
    map.add({0, 8}, reading, {0, 1});
    EXPECT_EQ(a_write_follows(map, {0, 8}), "0:3") << "the write implies the read before it";
    map.add({0, 8}, reading, {1, 2});
    map.add({0, 8}, reading, {1, 1});
    EXPECT_EQ(a_write_follows(map, {0, 8}), "1:2");
}

TEST(AccessMap, AReadAddedBeforeTheWriteItFollowsIsKept) {
    AccessMap map;
    map.add({0, 8}, reading, {1, 1});
    map.add({0, 8}, reading, {0, 5});
    map.add({0, 8}, writing, {0, 4});
    EXPECT_EQ(a_write_follows(map, {0, 8}), "0:5");
    EXPECT_EQ(a_read_follows(map, {0, 8}), "0:4");
}

TEST(AccessMap, AnEmptyRangeIsIgnored) {
    AccessMap map;
    map.add({4, 4}, writing, {0, 1});
    EXPECT_EQ(map.pieces(), 0u);
    map.add({0, 8}, writing, {0, 1});
    EXPECT_EQ(a_write_follows(map, {4, 4}), "") << "not even within a used range";
    EXPECT_EQ(a_write_follows(map, {0, 0}), "");
    map.clear({4, 4});
    EXPECT_EQ(map.pieces(), 1u);
}

TEST(AccessMap, AUseAtPointZeroIsIgnored) {
    AccessMap map;
    map.add({0, 8}, writing, {0, 0});
    map.add({0, 8}, reading, {1, 0});
    EXPECT_EQ(map.pieces(), 0u);
    map.add({0, 8}, writing, {0, 1});
    map.add({0, 8}, reading, {1, 1});
    map.add({0, 8}, reading, {2, 0});
    map.add({0, 8}, writing, {2, 0});
    EXPECT_EQ(a_write_follows(map, {0, 8}), "1:1") << "it changes nothing; clear() removes completed uses";
    EXPECT_EQ(a_read_follows(map, {0, 8}), "0:1");
}

TEST(AccessMap, ForgetRemovesCompletedUses) {
    AccessMap map;
    map.add({0, 8}, writing, {0, 1});
    map.add({0, 8}, reading, {1, 1});
    map.add({0, 8}, reading, {2, 1});
    map.add({0, 8}, reading, {3, 1});
    map.forget([](const Use& use) { return use.lane <= 1; });
    EXPECT_EQ(a_read_follows(map, {0, 8}), "");
    EXPECT_EQ(a_write_follows(map, {0, 8}), "2:1 3:1");
    map.add({0, 8}, reading, {3, 2});
    EXPECT_EQ(a_write_follows(map, {0, 8}), "2:1 3:2") << "one use per lane";
    map.forget([](const Use& use) { return use.lane == 3; });
    EXPECT_EQ(a_write_follows(map, {0, 8}), "2:1");
    map.forget([](const Use&) { return true; });
    EXPECT_EQ(map.pieces(), 0u);
}

TEST(AccessMap, PiecesJoinWhenForgettingMakesThemEqual) {
    AccessMap map;
    map.add({0, 16}, writing, {0, 1});
    map.add({4, 8}, reading, {1, 1});
    EXPECT_EQ(map.pieces(), 3u);
    map.forget([](const Use& use) { return use.lane == 1; });
    EXPECT_EQ(map.pieces(), 1u);
    EXPECT_EQ(a_write_follows(map, {0, 16}), "0:1");
}

TEST(AccessMap, ForgettingAPieceDoesNotJoinItsNeighbours) {
    AccessMap map;
    map.add({0, 4}, writing, {0, 1});
    map.add({4, 8}, writing, {1, 1});
    map.add({8, 12}, writing, {0, 1});
    map.forget([](const Use& use) { return use.lane == 1; });
    EXPECT_EQ(map.pieces(), 2u);
    EXPECT_EQ(a_write_follows(map, {4, 8}), "");
    EXPECT_EQ(a_write_follows(map, {0, 12}), "0:1");
}

TEST(AccessMap, ClearingARangeLeavesTheRest) {
    AccessMap map;
    map.add({0, 16}, writing, {0, 1});
    map.clear({4, 8});
    EXPECT_EQ(a_write_follows(map, {4, 8}), "");
    EXPECT_EQ(a_write_follows(map, {3, 8}), "0:1");
    EXPECT_EQ(a_write_follows(map, {4, 9}), "0:1");
    EXPECT_EQ(map.pieces(), 2u);
    map.clear({0, 100});
    EXPECT_EQ(map.pieces(), 0u);
}

TEST(AccessMap, ClearingEverythingLeavesNothing) {
    AccessMap map;
    map.add({0, 16}, writing, {0, 1});
    map.add({100, 116}, reading, {0, 2});
    map.clear();
    EXPECT_EQ(a_write_follows(map, {0, ~std::uint64_t{0}}), "");
}

TEST(AccessMap, SubresourcesOfAnImageAreUnits) {
    // Layers with four levels each: unit 4 * layer + level.
    const auto level = [](std::uint64_t layer, std::uint64_t l) {
        return ByteRange{4 * layer + l, 4 * layer + l + 1};
    };
    const auto layer = [](std::uint64_t l) { return ByteRange{4 * l, 4 * l + 4}; };
    AccessMap image;
    image.add({0, 12}, writing, {0, 1});      // clears the whole image
    image.add(level(1, 0), reading, {1, 1});  // computes a level from the previous one
    image.add(level(1, 1), writing, {1, 1});
    EXPECT_EQ(a_read_follows(image, level(1, 0)), "0:1");
    EXPECT_EQ(a_read_follows(image, level(1, 1)), "1:1");
    EXPECT_EQ(a_read_follows(image, layer(1)), "0:1 1:1");
    EXPECT_EQ(a_read_follows(image, layer(2)), "0:1") << "other layers are independent";
}

// ---- the union of a command's accesses ----

TEST(MergeAccesses, AreMergedIfTheyIntersect) {
    const auto merged = [](std::vector<Access> accesses) {
        return describe(merge_accesses(std::move(accesses)));
    };
    const void* a = resource_at(0);
    const void* b = resource_at(1);
    EXPECT_EQ(merged({}), "nothing");
    EXPECT_EQ(merged({{a, {0, 8}, reading}, {a, {0, 8}, writing}}), "w0[0,8)")
        << "a buffer bound twice is written";
    EXPECT_EQ(merged({{a, {8, 16}, reading}, {a, {0, 8}, reading}}), "r0[0,16)");
    EXPECT_EQ(merged({{a, {0, 12}, reading}, {a, {4, 8}, writing}}), "r0[0,4) w0[4,8) r0[8,12)");
    EXPECT_EQ(merged({{b, {0, 8}, reading}, {a, {0, 8}, writing}}), "w0[0,8) r1[0,8)")
        << "resources are not merged";
    EXPECT_EQ(merged({{a, {5, 5}, writing}, {a, {0, 8}, reading}}), "r0[0,8)") << "an empty range is ignored";
    EXPECT_EQ(merged({{a, {5, 5}, writing}}), "nothing");
}

void expect_painted(const std::vector<Access>& accesses) {
    ASSERT_EQ(describe(merge_accesses(accesses)), describe(painted(accesses))) << describe(accesses);
}

TEST(MergeAccesses, MatchPaintedUnitsForAllListsOfThree) {
    std::vector<Access> all;
    for (unsigned r = 0; r < 2; ++r) {
        for (std::uint64_t begin = 0; begin < 3; ++begin) {
            for (std::uint64_t end = begin; end <= 3; ++end) {
                for (const bool writes : {reading, writing})
                    all.push_back({resource_at(r), {begin, end}, writes});
            }
        }
    }
    for (const Access& a : all) {
        for (const Access& b : all) {
            expect_painted({a, b});
            if (HasFatalFailure()) return;
        }
    }
    // Three accesses to one resource: a second resource adds no new cases.
    for (std::size_t i = 0; i < all.size() / 2; ++i) {
        for (std::size_t j = 0; j < all.size() / 2; ++j) {
            for (std::size_t k = 0; k < all.size() / 2; ++k) {
                expect_painted({all[i], all[j], all[k]});
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST(MergeAccesses, MatchPaintedUnitsForLongRandomLists) {
    const std::uint64_t seed = testing::seed_or(17);
    SCOPED_TRACE(cat("VOLLEY_SEED=", seed));
    Random random(seed);
    for (int list = 0; list < 200; ++list) {
        std::vector<Access> accesses;
        const std::uint64_t count = random.below(40);
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t begin = random.below(100);
            accesses.push_back({resource_at(static_cast<unsigned>(random.below(3))),
                                {begin, begin + random.below(12)},
                                random.chance(50)});
        }
        expect_painted(accesses);
        if (HasFatalFailure()) return;
    }
}

// ---- every conflicting pair is ordered, and no other ----

void expect_all_right(const Checked& checked, std::uint64_t at_least) {
    EXPECT_EQ(checked.failure, "");
    EXPECT_GE(checked.programs, at_least);
}

TEST(Hazards, OrderAllProgramsOfThreeCommandsWithTwoAccesses) {
    expect_all_right(check_all_maps({.commands = 3, .resources = 2, .units = 3, .accesses = 2, .lanes = 2}),
                     5'000'000);
}

TEST(Hazards, OrderAllProgramsOfFourCommandsWithTwoAccessesToOneResource) {
    expect_all_right(check_all_maps({.commands = 4, .resources = 1, .units = 3, .accesses = 2}), 5'000'000);
}

TEST(Hazards, OrderAllProgramsOfFourCommandsOnDisturbedLanes) {
    expect_all_right(
        check_all_maps({.commands = 4, .resources = 2, .units = 2, .lanes = 2, .disturbed = true}), 300'000);
    expect_all_right(
        check_all_maps({.commands = 4, .resources = 1, .units = 3, .lanes = 3, .disturbed = true}), 300'000);
}

TEST(Hazards, OrderLongRandomPrograms) {
    for (std::uint64_t i = 0; i < 12; ++i) {
        const auto lanes = static_cast<unsigned>(i % 6);
        expect_all_right(
            check_random_maps({.seed = testing::seed_or(100 + i), .commands = 600, .lanes = lanes}), 1);
    }
    expect_all_right(check_random_maps({.seed = testing::seed_or(1),
                                        .commands = 3000,
                                        .resources = 4,
                                        .units = 500,
                                        .longest = 20,
                                        .lanes = 4}),
                     1);
    expect_all_right(
        check_random_maps({.seed = testing::seed_or(2), .commands = 3000, .units = 500, .longest = 20}), 1);
}

}  // namespace
}  // namespace volley::runtime
