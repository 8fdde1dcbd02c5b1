// Layouts: the location of elements, the rows of a transfer, and whether two parts overlap. The random tests
// are in layout_random_test.cpp.
#include "core/layout.hpp"
#include "support/expect_error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace volley {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

Layout dense(const Shape& shape, std::int64_t element) { return row_major(shape, shape, element); }

Layout part_of(const Layout& layout, const Selection& selection) { return select(layout, selection, "x"); }

std::vector<std::int64_t> counts(const Rows& rows) {
    return {rows.count.begin(), rows.count.begin() + rows.rank};
}
std::vector<std::int64_t> to_strides(const Rows& rows) {
    return {rows.to_stride.begin(), rows.to_stride.begin() + rows.rank};
}
std::vector<std::int64_t> from_strides(const Rows& rows) {
    return {rows.from_stride.begin(), rows.from_stride.begin() + rows.rank};
}

using List = std::vector<std::int64_t>;

TEST(Layout, StridesComeFromThePaddedShape) {
    const Layout layout = row_major({17, 13}, {32, 16}, 4);
    EXPECT_EQ(layout.offset, 0);
    EXPECT_EQ(layout.shape, (Shape{17, 13}));
    EXPECT_EQ(layout.strides.to_string(), "(64, 4)");
}

TEST(Layout, SizesAreChecked) {
    error_of(ErrorCode::InvalidShape, [] { (void)row_major({17, 13}, {16, 16}, 4); });
    error_of(ErrorCode::InvalidShape, [] { (void)row_major({17, 13}, {17}, 4); });
    const std::int64_t large = std::int64_t{1} << 31;
    error_of(ErrorCode::Overflow, [&] { (void)row_major({1, 1}, {large, large}, 4); });
    error_of(ErrorCode::Overflow, [&] { (void)row_major(large << 30, large << 30, 4); });
    error_of(ErrorCode::Overflow, [&] { (void)bytes_of({0, {large, large}, row_major_strides({1, 1})}, 4); });
    error_of(ErrorCode::Overflow, [&] {
        (void)extent({0, {large, 1}, row_major_strides({1, large << 20})}, 4);
    });
    EXPECT_EQ(bytes_of(row_major({17, 13}, {32, 16}, 4), 4), 17 * 13 * 4);
}

TEST(Layout, OffsetsOfNestedSelectionsAddUp) {
    const Layout whole = row_major({17, 13}, {32, 16}, 4);
    const Layout part = part_of(whole, {slice(2, 10, 3), slice(1, 5)});
    EXPECT_EQ(part.offset, 2 * 64 + 4);
    EXPECT_EQ(part.shape, (Shape{3, 4}));
    EXPECT_EQ(part.strides.to_string(), "(192, 4)");
    const Layout inner = part_of(part, {1, slice(2, none)});
    EXPECT_EQ(inner.offset, 5 * 64 + 3 * 4);
    EXPECT_EQ(inner.shape, (Shape{2}));
}

TEST(Layout, SelectingNamesItsSubject) {
    EXPECT_THAT(
        error_of(ErrorCode::IndexError,
                 [] {
                     (void)select(dense({4, 5}, 4), {all, 7}, "buffer 3 'weights'");
                 }),
        HasSubstr(
            "the index 7 is out of range for axis 1, which has the extent 5; buffer 3 'weights' of shape"));
}

TEST(Layout, IsDenseWithoutGaps) {
    EXPECT_TRUE(is_dense(dense({3, 4}, 8), 8));
    EXPECT_TRUE(is_dense(dense({}, 8), 8));
    EXPECT_FALSE(is_dense(row_major({3, 4}, {3, 5}, 8), 8));
    EXPECT_TRUE(is_dense(row_major({3, 4}, {7, 4}, 8), 8));
    EXPECT_TRUE(is_dense(row_major({1, 4}, {7, 9}, 8), 8));
    EXPECT_TRUE(is_dense(row_major({3, 0}, {7, 9}, 8), 8));
    EXPECT_TRUE(is_dense(part_of(dense({3, 4}, 8), {1}), 8));
    EXPECT_FALSE(is_dense(part_of(dense({3, 4}, 8), {all, 1}), 8));
    EXPECT_FALSE(is_dense(part_of(dense({6}, 8), {slice(0, 6, 2)}), 8));
    EXPECT_TRUE(is_dense(part_of(dense({3, 4}, 8), {all, newaxis}), 8));
}

TEST(Layout, ExtentReachesTheEndOfTheLastElement) {
    EXPECT_EQ(extent(dense({3, 4}, 8), 8), 96);
    EXPECT_EQ(extent(row_major({17, 13}, {32, 16}, 4), 4), 16 * 64 + 13 * 4);
    EXPECT_EQ(extent(part_of(dense({3, 4}, 8), {all, 1}), 8), 72);
    EXPECT_EQ(extent(dense({}, 8), 8), 8);
    EXPECT_EQ(extent(dense({3, 0}, 8), 8), 0);
}

TEST(Collapse, ADenseArrayIsOneRow) {
    const Rows rows = collapse(dense({3, 4, 5}, 8), dense({3, 4, 5}, 8), 8);
    EXPECT_EQ(rows.row, 480);
    EXPECT_EQ(rows.rank, 0);
    EXPECT_EQ(rows.rows(), 1);
    EXPECT_EQ(rows.bytes(), 480);
}

TEST(Collapse, APaddedArrayHasOneTransferRowPerRow) {
    const Rows rows = collapse(row_major({17, 13}, {32, 16}, 4), dense({17, 13}, 4), 4);
    EXPECT_EQ(rows.row, 52);
    EXPECT_EQ(counts(rows), (List{17}));
    EXPECT_EQ(to_strides(rows), (List{64}));
    EXPECT_EQ(from_strides(rows), (List{52}));
    EXPECT_EQ(rows.rows(), 17);
    EXPECT_EQ(rows.bytes(), 17 * 52);
}

TEST(Collapse, EqualPaddingOnBothSidesMergesTheOuterAxes) {
    const Layout layout = row_major({2, 3, 5}, {2, 3, 8}, 4);
    const Rows rows = collapse(layout, layout, 4);
    EXPECT_EQ(rows.row, 20);
    EXPECT_EQ(counts(rows), (List{6}));
    EXPECT_EQ(to_strides(rows), (List{32}));
    EXPECT_EQ(rows, collapse(layout, 4));
}

TEST(Collapse, AxesMergeOnlyWhereBothSidesAllowIt) {
    const Layout to = dense({2, 3, 5}, 4);
    const Layout from = row_major({2, 3, 5}, {2, 4, 5}, 4);
    const Rows rows = collapse(to, from, 4);
    EXPECT_EQ(rows.row, 60);
    EXPECT_EQ(counts(rows), (List{2}));
    EXPECT_EQ(to_strides(rows), (List{60}));
    EXPECT_EQ(from_strides(rows), (List{80}));
}

TEST(Collapse, AStridedInnerAxisHasRowsOfSingleElements) {
    const Layout to = part_of(dense({4, 6, 8}, 4), {slice(1, 3), all, slice(0, 8, 2)});
    const Layout from = dense({2, 6, 4}, 4);
    const Rows rows = collapse(to, from, 4);
    EXPECT_EQ(rows.row, 4);
    EXPECT_EQ(counts(rows), (List{48}));  // half of each row, but evenly over all of them
    EXPECT_EQ(to_strides(rows), (List{8}));
    EXPECT_EQ(from_strides(rows), (List{4}));
    EXPECT_EQ(rows.to_offset, 6 * 8 * 4);
    EXPECT_EQ(rows.from_offset, 0);
}

TEST(Collapse, RanksAboveThreeRemainIfNothingMerges) {
    const Layout layout = row_major({2, 3, 4, 5, 6}, {3, 4, 5, 6, 7}, 2);
    const Rows rows = collapse(layout, 2);
    EXPECT_EQ(rows.row, 12);
    EXPECT_EQ(counts(rows), (List{5, 4, 3, 2}));
    EXPECT_EQ(rows.rows(), 120);
}

TEST(Collapse, AxesOfLengthOneAreLeftOut) {
    const Layout to = part_of(dense({3, 4}, 4), {newaxis, all, newaxis, all, newaxis});
    const Layout from = row_major({1, 3, 1, 4, 1}, {9, 3, 1, 4, 1}, 4);
    EXPECT_EQ(collapse(to, from, 4).row, 48);
    EXPECT_EQ(collapse(to, from, 4).rank, 0);
}

TEST(Collapse, UnusedCountsAreOne) {
    const Rows rows = collapse(row_major({17, 13}, {32, 16}, 4), 4);
    EXPECT_EQ(rows.count[1], 1);
    EXPECT_EQ(rows.to_stride[1], 0);
}

TEST(Collapse, AnEmptyArrayHasNoBytes) {
    const Rows rows = collapse(dense({3, 0}, 4), dense({3, 0}, 4), 4);
    EXPECT_EQ(rows.row, 0);
    EXPECT_EQ(rows.bytes(), 0);
}

TEST(Collapse, DifferentShapesAreAnError) {
    EXPECT_THAT(error_of(ErrorCode::SizeMismatch,
                         [] {
                             (void)collapse(dense({3, 4}, 4), dense({4, 3}, 4), 4);
                         }),
                HasSubstr("to (3, 4), from (4, 3)"));
    error_of(ErrorCode::SizeMismatch, [] { (void)collapse(dense({4}, 4), dense({1, 4}, 4), 4); });
    error_of(ErrorCode::SizeMismatch, [] { (void)collapse(dense({3, 4}, 4), dense({1, 4}, 4), 4); });
}

bool parts_overlap(const Shape& shape, const Selection& a, const Selection& b) {
    const Layout whole = dense(shape, 4);
    const bool found = overlap(part_of(whole, a), part_of(whole, b), 4);
    EXPECT_EQ(overlap(part_of(whole, b), part_of(whole, a), 4), found);
    return found;
}

TEST(Overlap, DisjointPartsDoNotOverlap) {
    EXPECT_FALSE(parts_overlap({10}, {slice(0, 5)}, {slice(5, 10)}));
    EXPECT_TRUE(parts_overlap({10}, {slice(0, 6)}, {slice(5, 10)}));
    EXPECT_TRUE(parts_overlap({10}, {}, {3}));
    EXPECT_FALSE(parts_overlap({4, 10}, {slice(0, 2)}, {slice(2, 4)}));
}

TEST(Overlap, InterleavedColumnsDoNotOverlap) {
    EXPECT_FALSE(parts_overlap({4, 10}, {all, slice(0, 5)}, {all, slice(5, 10)}));
    EXPECT_TRUE(parts_overlap({4, 10}, {all, slice(0, 6)}, {all, slice(5, 10)}));
    EXPECT_FALSE(parts_overlap({4, 10}, {all, slice(0, 10, 2)}, {all, slice(1, 10, 2)}));
    EXPECT_FALSE(parts_overlap({4, 10}, {all, 3}, {slice(1, 3), 4}));
    EXPECT_FALSE(parts_overlap({4, 10}, {slice(0, 4, 2)}, {slice(1, 4, 2)}));
    EXPECT_TRUE(parts_overlap({4, 10}, {2}, {all, 4}));
    EXPECT_FALSE(parts_overlap({4, 10}, {2, slice(0, 4)}, {all, 4}));
}

TEST(Overlap, PartsThatShareACornerOverlap) {
    EXPECT_TRUE(parts_overlap({4, 10}, {slice(2, 4), slice(0, 6)}, {slice(0, 3), slice(5, 10)}));
    EXPECT_FALSE(parts_overlap({4, 10}, {slice(2, 4), slice(0, 6)}, {slice(0, 2), slice(5, 10)}));
    EXPECT_TRUE(parts_overlap({4, 4, 4}, {slice(0, 2), slice(0, 2), slice(0, 2)},
                              {slice(1, 3), slice(1, 3), slice(1, 3)}));
    EXPECT_FALSE(parts_overlap({4, 4, 4}, {slice(0, 2), slice(0, 2), slice(0, 2)},
                               {slice(1, 3), slice(1, 3), slice(2, 4)}));
}

TEST(Overlap, StepsMayDiffer) {
    EXPECT_TRUE(parts_overlap({10}, {slice(0, 10, 2)}, {slice(0, 10, 3)}));
    EXPECT_TRUE(parts_overlap({10}, {slice(0, 10, 2)}, {slice(1, 10, 3)}));   // 4
    EXPECT_FALSE(parts_overlap({10}, {slice(0, 4, 2)}, {slice(1, 10, 3)}));   // 0, 2 and 1, 4, 7
    EXPECT_FALSE(parts_overlap({12}, {slice(0, 12, 4)}, {slice(1, 12, 6)}));  // even and odd
}

TEST(Overlap, ViewsOfOneStorageMayHaveDifferentShapes) {
    const Layout matrix = dense({4, 10}, 4);
    Layout flat = dense({10}, 4);
    flat.offset = 160;
    EXPECT_FALSE(overlap(matrix, flat, 4));
    flat.offset = 158;  // views of bytes need not be aligned to each other
    EXPECT_TRUE(overlap(matrix, flat, 4));
    const Layout pairs = part_of(dense({10, 2}, 2), {all, 1});  // 1, 3, 5, ...
    const Layout thirds = part_of(dense({6, 3}, 2), {all, 0});  // 0, 3, 6, ...
    EXPECT_TRUE(overlap(pairs, thirds, 2));
    EXPECT_FALSE(overlap(pairs, part_of(thirds, {slice(none, none, 2)}), 2));
}

TEST(Overlap, RowsPastTheLastAreIgnored) {
    const Shape shape{2, 2};
    const List steps{20, 12};
    const Layout a{0, shape, Strides(steps)};   // 0, 12, 20, 32: a third row would have 40
    const Layout b{28, shape, Strides(steps)};  // 28, 40, 48, 60
    EXPECT_FALSE(overlap(a, b, 1));
    EXPECT_FALSE(overlap(b, a, 1));
    EXPECT_TRUE(overlap(a, {20, shape, Strides(steps)}, 1));
}

TEST(Overlap, EmptyLayoutsOverlapNothing) {
    EXPECT_FALSE(overlap(dense({0, 4}, 4), dense({4, 4}, 4), 4));
    EXPECT_FALSE(overlap(dense({4, 4}, 4), dense({0, 4}, 4), 4));
    Layout inside = dense({0}, 4);
    inside.offset = 8;
    EXPECT_FALSE(overlap(dense({4, 4}, 4), inside, 4));
}

TEST(Overlap, CostForPartsOfOneArrayIsIndependentOfItsRows) {
    const std::int64_t many = std::int64_t{1} << 40;
    EXPECT_FALSE(parts_overlap({many, 4}, {all, slice(0, 2)}, {all, slice(2, 4)}));
    EXPECT_FALSE(parts_overlap({many, 4}, {slice(0, many, 2)}, {slice(1, many, 2)}));
    EXPECT_FALSE(
        parts_overlap({many, 8, 4}, {all, slice(0, 8, 2), 1}, {many / 2, slice(1, 8, 2), slice(0, 2)}));
    EXPECT_TRUE(parts_overlap({many, 4}, {all, slice(0, 3)}, {slice(many / 2, many), slice(2, 4)}));
}

}  // namespace
}  // namespace volley
