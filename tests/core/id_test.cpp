// Ids are unique, also if several threads create them concurrently.
#include <gtest/gtest.h>
#include <volley/id.hpp>

#include <thread>
#include <unordered_set>
#include <vector>

namespace volley {
namespace {

using AppleId = Id<struct AppleTag>;
using PearId = Id<struct PearTag>;

TEST(Id, DefaultNamesNothing) {
    EXPECT_FALSE(AppleId());
    EXPECT_TRUE(AppleId::mint());
    EXPECT_EQ(AppleId(), AppleId());
}

TEST(Id, KindsDoNotMix) {
    static_assert(!std::is_convertible_v<AppleId, PearId>);
    static_assert(!std::is_constructible_v<AppleId, PearId>);
    static_assert(!std::is_constructible_v<AppleId, std::uint64_t>);
}

TEST(Id, IsUniqueAmongThreads) {
    std::vector<std::vector<AppleId>> minted(4);
    {
        std::vector<std::jthread> threads;
        for (auto& ids : minted) {
            threads.emplace_back([&ids] {
                for (int i = 0; i < 1000; ++i) ids.push_back(AppleId::mint());
            });
        }
    }
    std::unordered_set<AppleId> all;
    for (const auto& ids : minted) all.insert(ids.begin(), ids.end());
    EXPECT_EQ(all.size(), 4000u);
}

}  // namespace
}  // namespace volley
