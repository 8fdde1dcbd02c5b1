// Rows moved by the host, and what backends do with rects before they hand them on.
#include "backends/common/host_rect.hpp"

#include "backends/api/rect_parts.hpp"
#include "backends/common/rect_kernel.hpp"
#include "backends/common/stream_copy.hpp"
#include "backends/rect_support.hpp"

#include <gtest/gtest.h>

namespace volley::testing {
namespace {

using backends::RectMove;
using backends::RectPart;

void expect_rows_copied(const RectPlace& to_at, const RectPlace& from_at, const Rect& rect,
                        bool streaming = false) {
    Random random(rect.row);
    const Bytes from = random_bytes(random, end_of(from_at, rect));
    Bytes to(end_of(to_at, rect) + 1, std::byte{9});
    Bytes expected = to;
    backends::copy_rows(to.data(), from.data(), {rect, to_at, from_at}, streaming);
    copy_on_host(expected.data(), to_at, from.data(), from_at, rect);
    EXPECT_TRUE(to == expected) << rect << " " << to_at << " from " << from_at;
}

TEST(HostRectTest, CopiesRowsOfEveryLength) {
    for (std::uint64_t row = 1; row <= 200; ++row) {
        const Rect rect{row, {5, 3}};
        expect_rows_copied({3, {row + 1, 6 * row + 20}}, {1, {row + 7, 5 * row + 40}}, rect);
        expect_rows_copied({0, {row, 5 * row}}, {1, {2 * row, 10 * row}}, rect);
        expect_rows_copied({0, {row, 5 * row}}, {1, {row, 5 * row}}, rect);
    }
}

TEST(HostRectTest, CopiesPastTheCaches) {
    for (const std::uint64_t row : {8u, 40u, 64u, 200u, 4096u}) {
        expect_rows_copied({3, {row + 1, 0}}, {1, {row + 7, 0}}, {row, {100, 1}}, true);
        expect_rows_copied({0, {2 * row, 0}}, {0, {row, 0}}, {row, {100, 1}}, true);
    }
    expect_rows_copied({5, {2000, 0}}, {0, {1800, 0}}, {1777, {1000, 1}}, true);
    expect_rows_copied({5, {0, 0}}, {0, {0, 0}}, {(1 << 20) + 13, {1, 1}}, true);
}

TEST(HostRectTest, CopiesBytesPastTheCachesAndThroughThem) {
    Random random(1);
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{100}, (std::size_t{1} << 20) + 77}) {
        const Bytes from = random_bytes(random, bytes + 3);
        Bytes to(bytes + 64, std::byte{9});
        for (const std::size_t shift : {0u, 5u}) {
            for (const auto copy : {&backends::copy_bytes, &backends::stream_copy}) {
                std::fill(to.begin(), to.end(), std::byte{9});
                copy(to.data() + shift, from.data() + 3, bytes);
                EXPECT_TRUE(std::equal(from.begin() + 3, from.end(), to.begin() + static_cast<int>(shift)));
                EXPECT_EQ(to[shift + bytes], std::byte{9});
            }
        }
    }
}

TEST(HostRectTest, FillsRowsFromThePatternsFirstByte) {
    Random random(2);
    for (const std::uint64_t row : {1u, 6u, 40u, 4096u, 9000u}) {
        for (const std::uint64_t parts : {1u, 2u, 3u}) {
            if (row % parts != 0) continue;
            const Rect rect{row, {4, 2}};
            const RectPlace at{2, {row + 3, 5 * row + 9}};
            const Bytes pattern = random_bytes(random, row / parts);
            Bytes to(end_of(at, rect) + 1, std::byte{9});
            Bytes expected = to;
            backends::fill_rows(to.data(), at, rect, pattern);
            fill_on_host(expected.data(), at, rect, pattern);
            EXPECT_TRUE(to == expected) << rect;
        }
    }
}

// ---- rects put together and cut ----

TEST(RectPartsTest, RowsThatTouchOnBothSidesBecomeOne) {
    RectMove move = backends::joined({{4, {10, 6}}, {1, {4, 40}}, {2, {4, 40}}});
    EXPECT_EQ(move.rect.row, 240u);
    EXPECT_EQ(move.rect.rows(), 1u);
    EXPECT_EQ(move.to.offset, 1u);
    EXPECT_EQ(move.from.offset, 2u);
    move = backends::joined({{4, {10, 6}}, {0, {4, 44}}, {0, {4, 40}}});
    EXPECT_EQ(move.rect.row, 40u);
    EXPECT_EQ(move.rect.count[0], 6u);
    EXPECT_EQ(move.to.stride[0], 44u);
    EXPECT_EQ(move.from.stride[0], 40u);
    move = backends::joined({{4, {10, 6}}, {0, {4, 40}}, {0, {8, 80}}});
    EXPECT_EQ(move.rect.row, 4u);
    EXPECT_EQ(move.rect.count[0], 60u) << "planes that follow each other are one";
    move = backends::joined({{4, {10, 6}}, {0, {4, 40}}, {0, {8, 84}}});
    EXPECT_EQ(move.rect.count[0], 10u) << "unless they do so on one side only";
    EXPECT_EQ(move.rect.count[1], 6u);
    move = backends::joined({{4, {1, 6}}, {0, {1, 40}}, {0, {99, 4}}});
    EXPECT_EQ(move.rect.count[0], 6u) << "planes of one row are rows";
    EXPECT_EQ(move.from.stride[0], 4u);
}

TEST(RectPartsTest, AJoinedRectMovesTheSameBytes) {
    Random random(3);
    for (int k = 0; k < 500; ++k) {
        const Rect rect = random_rect(random, 20'000);
        const RectPlace to_at = random_place(random, rect);
        const RectPlace from_at = random_place(random, rect);
        const RectMove move = backends::joined({rect, to_at, from_at});
        const Bytes from = random_bytes(random, end_of(from_at, rect));
        Bytes to(end_of(to_at, rect));
        Bytes expected = to;
        copy_on_host(to.data(), move.to, from.data(), move.from, move.rect);
        copy_on_host(expected.data(), to_at, from.data(), from_at, rect);
        ASSERT_TRUE(to == expected) << "case " << k << ": " << rect << " " << to_at << " from " << from_at;
        ASSERT_LE(move.rect.rows(), rect.rows());
    }
}

TEST(RectPartsTest, PartsCoverEveryByteOnce) {
    Random random(4);
    for (int k = 0; k < 500; ++k) {
        const Rect rect = random_rect(random, 20'000);
        const RectPlace at = random_place(random, rect);
        const std::uint64_t most = 1 + random.below(6000);
        std::vector<int> counts(end_of(at, rect));
        std::uint64_t bytes = 0;
        backends::for_each_part(rect, backends::part_of(rect, most), [&](const RectPart& part) {
            ASSERT_LE(part.rect.bytes(), most);
            bytes += part.rect.bytes();
            const RectPlace place = part.in(at);
            for_each_row(part.rect, [&](std::uint64_t row, std::uint64_t plane) {
                for (std::uint64_t i = 0; i < part.rect.row; ++i) ++counts[row_start(place, row, plane) + i];
            });
        });
        ASSERT_EQ(bytes, rect.bytes());
        ASSERT_TRUE(std::all_of(counts.begin(), counts.end(), [](int n) { return n <= 1; }));
    }
}

TEST(RectPartsTest, PartsAreAsLargeAsTheyMayBe) {
    const Rect rect{100, {30, 20}};
    EXPECT_EQ(backends::part_of(rect, 70).row, 70u);
    EXPECT_EQ(backends::part_of(rect, 1050).count[0], 10u);
    EXPECT_EQ(backends::part_of(rect, 7000).count[1], 2u);
    EXPECT_EQ(backends::part_of(rect, 1 << 20).bytes(), rect.bytes());
}

// ---- the kernel's launches ----

TEST(RectKernelTest, AWordDividesEverything) {
    const Rect rect{32, {4, 4}};
    EXPECT_EQ(backends::word_of({rect, {0, {64, 256}}, {0, {32, 128}}}, 0, 0), 16u);
    EXPECT_EQ(backends::word_of({rect, {8, {64, 256}}, {0, {32, 128}}}, 0, 0), 8u);
    EXPECT_EQ(backends::word_of({rect, {8, {64, 256}}, {0, {32, 128}}}, 8, 0), 16u)
        << "addresses count whole";
    EXPECT_EQ(backends::word_of({rect, {0, {68, 272}}, {0, {32, 128}}}, 0, 0), 4u);
    EXPECT_EQ(backends::word_of({rect, {0, {64, 256}}, {0, {32, 130}}}, 0, 0), 2u);
    EXPECT_EQ(backends::word_of({rect, {0, {64, 256}}, {0, {0, 0}}}, 0, 1), 1u);
    EXPECT_EQ(backends::word_of({{6, {4, 1}}, {0, {12, 0}}, {0, {12, 0}}}, 0, 0), 2u);
}

TEST(RectKernelTest, OneLaunchReachesNoFurtherThanItsIndicesDo) {
    constexpr std::uint64_t gib = std::uint64_t{1} << 30;
    const auto limit = [](const Rect& rect, std::uint64_t row, std::uint64_t plane, std::uint32_t word) {
        const Rect most =
            backends::rect_launch_limit({rect, {0, {row, plane}}, {0, {rect.row, rect.row}}}, word);
        const std::uint64_t reach =
            ((most.count[0] - 1) * row + (most.count[1] - 1) * plane + most.row) / word;
        EXPECT_LE(reach, std::uint64_t{1} << 32);
        return most;
    };
    EXPECT_EQ(limit({4, {1000, 1000}}, 8, 8000, 4).rows(), 1'000'000u) << "nothing to cut";
    EXPECT_EQ(limit({4, {100, 100}}, gib / 64, 2 * gib, 4).count[1], 7u + 1u) << "planes";
    EXPECT_EQ(limit({4, {100, 100}}, 3 * gib, 400 * gib, 4).count[0], 6u) << "rows of a plane";
    EXPECT_EQ(limit({4, {100, 100}}, 20 * gib, 4000 * gib, 4).rows(), 1u) << "each on its own";
    EXPECT_EQ(limit({1, {100, 1}}, gib, 0, 1).count[0], 4u);
}

}  // namespace
}  // namespace volley::testing
