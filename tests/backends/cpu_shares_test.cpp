// The division of pieces among threads.
#include "backends/cpu/cpu_shares.hpp"

#include "support/sanitized.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace volley::backends::cpu {
namespace {

TEST(CpuShares, GiveAThreadItsOwnPiecesInOrder) {
    std::vector<Share> shares(3);
    deal(shares, 9);
    EXPECT_EQ(take_piece(shares, 1), 3u);
    EXPECT_EQ(take_piece(shares, 1), 4u);
    EXPECT_EQ(take_piece(shares, 2), 6u);
    EXPECT_EQ(take_piece(shares, 0), 0u);
    EXPECT_EQ(take_own(shares, 4), 5u) << "numbers of threads wrap around";
    EXPECT_EQ(take_own(shares, 1), std::nullopt);
}

TEST(CpuShares, AreTheSameForEveryCommandOfOneSize) {
    std::vector<Share> shares(2);
    for (int k = 0; k < 3; ++k) {
        deal(shares, 10);
        for (std::uint32_t piece = 0; piece < 5; ++piece) {
            EXPECT_EQ(take_piece(shares, 0), piece);
            EXPECT_EQ(take_piece(shares, 1), piece + 5);
        }
    }
}

TEST(CpuShares, LetAThreadWithoutPiecesTakeTheLastOfTheLongest) {
    std::vector<Share> shares(3);
    deal(shares, 9);
    for (int k = 0; k < 3; ++k) static_cast<void>(take_piece(shares, 0));
    static_cast<void>(take_piece(shares, 1));
    EXPECT_EQ(take_piece(shares, 0), 8u);
    EXPECT_EQ(take_piece(shares, 0), 5u);
}

TEST(CpuShares, OfFewerPiecesThanThreadsAreTaken) {
    std::vector<Share> shares(8);
    deal(shares, 3);
    std::vector<std::uint32_t> taken;
    for (unsigned k = 0; k < 3; ++k) taken.push_back(take_piece(shares, k));
    std::ranges::sort(taken);
    EXPECT_EQ(taken, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(CpuShares, AreTakenOnceByThreadsThatCompete) {
    constexpr std::uint32_t pieces = 1000;
    constexpr unsigned threads = 4;
    std::vector<Share> shares(2);
    for (int round = 0; round < testing::unless_sanitized(200, 20); ++round) {
        deal(shares, pieces);
        std::atomic<std::uint32_t> claims{pieces};
        std::vector<std::atomic<int>> taken(pieces);
        std::vector<std::thread> takers;
        for (unsigned k = 0; k < threads; ++k) {
            takers.emplace_back([&, k] {
                for (;;) {
                    std::uint32_t left = claims.load();
                    while (left != 0 && !claims.compare_exchange_weak(left, left - 1)) {
                    }
                    if (left == 0) return;
                    ++taken[take_piece(shares, k)];
                }
            });
        }
        for (std::thread& taker : takers) taker.join();
        EXPECT_TRUE(std::ranges::all_of(taken, [](const auto& times) { return times == 1; }));
    }
}

}  // namespace
}  // namespace volley::backends::cpu
