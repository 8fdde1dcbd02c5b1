// The offset allocator: allocations never overlap, and freed ranges are merged.
#include "backends/common/tlsf.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace volley::backends {
namespace {

TEST(Tlsf, ReturnsOffsetsThatAreMultiplesOfTheUnit) {
    Tlsf heap(1 << 20, 256);
    for (const std::uint64_t bytes : {1u, 255u, 256u, 257u, 5000u}) {
        const auto part = heap.allocate(bytes);
        ASSERT_TRUE(part);
        EXPECT_EQ(part->offset % 256, 0u);
    }
    EXPECT_EQ(heap.used(), 256u + 256 + 256 + 512 + 5120);
}

TEST(Tlsf, AllocatesEverythingAsOnePiece) {
    Tlsf heap((1 << 20) + 77, 256);
    EXPECT_EQ(heap.capacity(), 1u << 20);
    const auto all = heap.allocate(heap.capacity());
    ASSERT_TRUE(all);
    EXPECT_FALSE(heap.allocate(1));
    heap.free(all->handle);
    EXPECT_TRUE(heap.empty());
    EXPECT_TRUE(heap.allocate(heap.capacity()));
}

TEST(Tlsf, RejectsWhatIsTooLarge) {
    Tlsf heap(4096, 256);
    EXPECT_FALSE(heap.allocate(4097));
    EXPECT_FALSE(heap.allocate(~std::uint64_t{0}));
    EXPECT_FALSE(Tlsf(100, 256).allocate(1)) << "less than a unit";
    EXPECT_TRUE(heap.consistent());
}

TEST(Tlsf, AnEmptyAllocationHasItsOwnOffset) {
    Tlsf heap(4096, 256);
    const auto a = heap.allocate(0);
    const auto b = heap.allocate(0);
    ASSERT_TRUE(a && b);
    EXPECT_NE(a->offset, b->offset);
}

TEST(Tlsf, MergesNeighboursFreedInAnyOrder) {
    const std::vector<std::vector<std::size_t>> orders = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (const auto& order : orders) {
        Tlsf heap(3 * 4096, 256);
        std::vector<Tlsf::Handle> parts;
        for (int i = 0; i < 3; ++i) parts.push_back(heap.allocate(4096)->handle);
        EXPECT_FALSE(heap.allocate(1));
        for (const std::size_t i : order) {
            heap.free(parts[i]);
            EXPECT_TRUE(heap.consistent());
        }
        EXPECT_TRUE(heap.allocate(3 * 4096));
    }
}

TEST(Tlsf, FindsTheOnlyPieceThatFitsExactly) {
    // For sizes between two classes, rounding up alone would miss the piece.
    Tlsf heap(256 * 1000, 256);
    const auto first = heap.allocate(256 * 333);
    const auto second = heap.allocate(256 * 667);
    ASSERT_TRUE(first && second);
    heap.free(first->handle);
    EXPECT_TRUE(heap.allocate(256 * 333));
}

TEST(Tlsf, KeepsItsInvariantInRandomCalls) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        Tlsf heap(std::uint64_t{1} << 22, 256);
        struct Taken {
            std::uint64_t bytes;
            Tlsf::Handle handle;
        };
        std::map<std::uint64_t, Taken> taken;  // by offset
        for (int step = 0; step < 4000; ++step) {
            const bool take = taken.empty() || std::uniform_int_distribution(0, 99)(random) < 55;
            if (take) {
                const int scale = std::uniform_int_distribution(0, 18)(random);
                const auto bytes =
                    std::uniform_int_distribution<std::uint64_t>(1, std::uint64_t{1} << scale)(random);
                const auto part = heap.allocate(bytes);
                if (!part) continue;
                ASSERT_LE(part->offset + bytes, heap.capacity());
                const auto after = taken.lower_bound(part->offset);
                if (after != taken.end()) {
                    ASSERT_LE(part->offset + bytes, after->first);
                }
                if (after != taken.begin()) {
                    const auto before = std::prev(after);
                    ASSERT_LE(before->first + before->second.bytes, part->offset);
                }
                taken.emplace(part->offset, Taken{bytes, part->handle});
            } else {
                auto victim = taken.begin();
                std::advance(victim, std::uniform_int_distribution<std::size_t>(0, taken.size() - 1)(random));
                heap.free(victim->second.handle);
                taken.erase(victim);
            }
            if (step % 97 == 0) {
                ASSERT_TRUE(heap.consistent());
            }
        }
        for (const auto& [offset, part] : taken) heap.free(part.handle);
        EXPECT_TRUE(heap.empty());
        EXPECT_TRUE(heap.consistent());
        EXPECT_TRUE(heap.allocate(heap.capacity())) << "everything is one piece again";
    }
}

}  // namespace
}  // namespace volley::backends
