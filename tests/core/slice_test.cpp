// Selections: their syntax, and the effect of each entry on the axes of an array.
#include "support/expect_error.hpp"

#include <volley/slice.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace volley {
namespace {

using testing::error_of;
using ::testing::HasSubstr;

struct Part {
    std::int64_t offset;
    Shape shape;
    Strides strides;  // in elements

    friend bool operator==(const Part&, const Part&) = default;
};

Part select(Shape shape, const Selection& selection) {
    Strides strides = row_major_strides(shape);
    const std::int64_t offset = detail::select(shape, strides, selection, "buffer 'x'");
    return {offset, shape, strides};
}

Part part(std::int64_t offset, const Shape& shape, const std::vector<std::int64_t>& strides) {
    return {offset, shape, Strides(strides)};
}

std::string index_error(const Shape& shape, const Selection& selection) {
    return error_of(ErrorCode::IndexError, [&] { (void)select(shape, selection); });
}

TEST(Slice, IsWrittenWithIntegersOfAnyTypeAndOpenBounds) {
    EXPECT_EQ(Selector(slice(1, 3)).to_string(), "slice(1, 3)");
    EXPECT_EQ(Selector(slice(none, std::size_t{5})).to_string(), "slice(none, 5)");
    EXPECT_EQ(Selector(slice(std::int8_t{-2}, none, 3u)).to_string(), "slice(-2, none, 3)");
    EXPECT_EQ(Selector(slice(none, none, -1)).to_string(), "slice(none, none, -1)");
    EXPECT_EQ(slice(1, none), slice(1L, none, 1UL));
}

TEST(Slice, RefusesUnsignedIntegersThatWereNegative) {
    EXPECT_THAT(error_of(ErrorCode::IndexError, [] { (void)slice(0, UINT64_MAX); }),
                HasSubstr("18446744073709551615"));
    error_of(ErrorCode::IndexError, [] { (void)slice(0, 5, UINT64_MAX); });
    error_of(ErrorCode::IndexError, [] { (void)Selection{UINT64_MAX}; });
}

TEST(Selection, IsWrittenInBracesOrAsOneEntry) {
    const auto written = [](const Selection& selection) { return selection.to_string(); };
    EXPECT_EQ(written({}), "{}");
    EXPECT_EQ(written({slice(1, 3), all, slice(4, 8, 2)}), "{slice(1, 3), all, slice(4, 8, 2)}");
    EXPECT_EQ(written({newaxis, -1, ellipsis, std::size_t{2}}), "{newaxis, -1, ellipsis, 2}");
    EXPECT_EQ(written(7), "{7}");
    EXPECT_EQ(written({7}), "{7}");
    EXPECT_EQ(written(0), "{0}");
    EXPECT_EQ(written(slice(1, 3)), "{slice(1, 3)}");
    EXPECT_EQ(written(all), "{all}");
    EXPECT_EQ(written({all}), "{all}");
    EXPECT_EQ(written(newaxis), "{newaxis}");
    EXPECT_EQ(written(ellipsis), "{ellipsis}");
    const Selector kept = all;
    EXPECT_EQ(written({kept, kept}), "{all, all}");
    static_assert(Selection{all, 2}.size() == 2);
    static_assert(!std::convertible_to<bool, Selector> && !std::convertible_to<double, Selector> &&
                  !std::convertible_to<const char*, Selector> &&
                  !std::convertible_to<std::nullptr_t, Selector>);
}

TEST(Selection, ASliceKeepsAPartOfTheAxis) {
    EXPECT_EQ(select({10}, {slice(2, 5)}), part(2, {3}, {1}));
    EXPECT_EQ(select({4, 10}, {slice(1, 3), slice(2, 5)}), part(12, {2, 3}, {10, 1}));
    EXPECT_EQ(select({10}, {slice(none, 5)}), part(0, {5}, {1}));
    EXPECT_EQ(select({10}, {slice(2, none)}), part(2, {8}, {1}));
    EXPECT_EQ(select({10}, {slice(none, none)}), part(0, {10}, {1}));
}

TEST(Selection, ASliceIsClampedToTheAxis) {
    EXPECT_EQ(select({10}, {slice(7, 100)}), part(7, {3}, {1}));
    EXPECT_EQ(select({10}, {slice(-100, 4)}), part(0, {4}, {1}));
    EXPECT_EQ(select({10}, {slice(-100, 100)}), part(0, {10}, {1}));
    EXPECT_EQ(select({10}, {slice(INT64_MIN, INT64_MAX)}), part(0, {10}, {1}));
}

TEST(Selection, NegativeBoundsCountFromTheEnd) {
    EXPECT_EQ(select({10}, {slice(-3, none)}), part(7, {3}, {1}));
    EXPECT_EQ(select({10}, {slice(1, -1)}), part(1, {8}, {1}));
    EXPECT_EQ(select({10}, {slice(-4, -2)}), part(6, {2}, {1}));
}

TEST(Selection, TheLengthOfAStridedSliceIsRoundedUp) {
    EXPECT_EQ(select({5}, {slice(0, 5, 2)}), part(0, {3}, {2}));
    EXPECT_EQ(select({5}, {slice(0, 4, 2)}), part(0, {2}, {2}));
    EXPECT_EQ(select({4, 10}, {all, slice(1, none, 3)}), part(1, {4, 3}, {10, 3}));
}

TEST(Selection, AStepBeyondTheAxisSelectsOneElement) {
    EXPECT_EQ(select({5}, {slice(3, none, 100)}).shape, (Shape{1}));
    EXPECT_EQ(select({5, 7}, {slice(3, none, INT64_MAX)}), part(21, {1, 7}, {7, 1}));
}

TEST(Selection, SlicesAgreeWithCountingElementByElement) {
    for (std::int64_t extent = 1; extent <= 6; ++extent) {
        for (std::int64_t begin = -8; begin <= 8; ++begin) {
            for (std::int64_t end = -8; end <= 8; ++end) {
                for (std::int64_t step = 1; step <= 7; ++step) {
                    std::vector<std::int64_t> expected;
                    const std::int64_t first = begin >= 0 ? begin : begin >= -extent ? begin + extent : 0;
                    const std::int64_t last = end < 0 ? end + extent : end;
                    for (std::int64_t i = first; i < extent && i < last; i += step) expected.push_back(i);
                    SCOPED_TRACE(Selection{slice(begin, end, step)}.to_string() + " of " +
                                 Shape(extent).to_string());
                    if (expected.empty()) {
                        index_error(extent, {slice(begin, end, step)});
                        continue;
                    }
                    const Part found = select(extent, {slice(begin, end, step)});
                    std::vector<std::int64_t> seen;
                    for (std::int64_t i = 0; i < found.shape[0]; ++i)
                        seen.push_back(found.offset + i * found.strides[0]);
                    EXPECT_EQ(seen, expected);
                }
            }
        }
    }
}

TEST(Selection, SelectingNothingIsAnError) {
    EXPECT_EQ(index_error({4, 10}, {all, slice(3, 3)}),
              "slice(3, 3) selects nothing of axis 1, which has the extent 10; buffer 'x' of shape (4, 10), "
              "selection {all, slice(3, 3)}; use bounds that include an element: the end is "
              "exclusive, and negative bounds count from the end of the axis");
    index_error({10}, {slice(5, 2)});
    index_error({10}, {slice(10, none)});
    index_error({10}, {slice(none, 0)});
    index_error({10}, {slice(none, -10)});
    index_error({10}, {slice(none, INT64_MIN)});
}

TEST(Selection, AnEmptyAxisCanBeKeptButNotSliced) {
    EXPECT_EQ(select({0, 3}, {}).shape, (Shape{0, 3}));
    EXPECT_EQ(select({0, 3}, {all, 1}).shape, (Shape{0}));
    EXPECT_EQ(select({3, 0}, {1, ellipsis}).shape, (Shape{0}));
    index_error({0, 3}, {slice(none, none)});
    EXPECT_THAT(index_error({0, 3}, {0}), HasSubstr("an empty axis has no elements to select"));
}

TEST(Selection, StepsOfZeroOrLessAreErrors) {
    EXPECT_EQ(index_error({4, 10}, {slice(0, 4), slice(8, 2, -1)}),
              "slice(8, 2, -1) of axis 1, which has the extent 10, has the invalid step -1; buffer 'x' of "
              "shape (4, 10), selection {slice(0, 4), slice(8, 2, -1)}; use a step of 1 or more");
    index_error({10}, {slice(0, 5, 0)});
    index_error({10}, {slice(none, none, INT64_MIN)});
}

TEST(Selection, AnIntegerRemovesItsAxis) {
    EXPECT_EQ(select({4, 10}, {2}), part(20, {10}, {1}));
    EXPECT_EQ(select({4, 10}, {all, 3}), part(3, {4}, {10}));
    EXPECT_EQ(select({4, 10}, {2, 3}), part(23, {}, {}));
    EXPECT_EQ(select({4, 10}, {-1, -10}), part(30, {}, {}));
}

TEST(Selection, AnIntegerOutOfRangeIsAnError) {
    EXPECT_EQ(index_error({4, 10}, {all, 10}),
              "the index 10 is out of range for axis 1, which has the extent 10; buffer 'x' of shape (4, "
              "10), selection {all, 10}; use -10 to 9");
    EXPECT_THAT(index_error({4, 10}, {-5}), HasSubstr("the index -5 is out of range for axis 0"));
    index_error({4}, {INT64_MIN});
    index_error({4}, {INT64_MAX});
}

TEST(Selection, ANewAxisHasLengthOne) {
    EXPECT_EQ(select({4, 10}, {newaxis}), part(0, {1, 4, 10}, {0, 10, 1}));
    EXPECT_EQ(select({4, 10}, {all, newaxis, 3}), part(3, {4, 1}, {10, 0}));
    EXPECT_EQ(select({4, 10}, {ellipsis, newaxis}), part(0, {4, 10, 1}, {10, 1, 0}));
    EXPECT_EQ(select({}, {newaxis, newaxis}), part(0, {1, 1}, {0, 0}));
}

TEST(Selection, AxesWithoutAnEntryAreKeptWhole) {
    EXPECT_EQ(select({2, 3, 4}, {}), part(0, {2, 3, 4}, {12, 4, 1}));
    EXPECT_EQ(select({2, 3, 4}, {slice(1, 2)}), part(12, {1, 3, 4}, {12, 4, 1}));
    EXPECT_EQ(select({}, {}), part(0, {}, {}));
}

TEST(Selection, AnEllipsisStandsForTheAxesThatAreLeft) {
    EXPECT_EQ(select({2, 3, 4}, {ellipsis, 1}), part(1, {2, 3}, {12, 4}));
    EXPECT_EQ(select({2, 3, 4}, {1, ellipsis, 1}), part(13, {3}, {4}));
    EXPECT_EQ(select({2, 3, 4}, {1, ellipsis}), part(12, {3, 4}, {4, 1}));
    EXPECT_EQ(select({2, 3}, {0, ellipsis, 1}), part(1, {}, {}));  // for no axis
    EXPECT_EQ(select({2, 3}, {ellipsis}), part(0, {2, 3}, {3, 1}));
}

TEST(Selection, TwoEllipsesAreAnError) {
    EXPECT_EQ(index_error({2, 3}, {ellipsis, 0, ellipsis}),
              "a selection has more than one ellipsis; buffer 'x' of shape (2, 3), selection {ellipsis, 0, "
              "ellipsis}; keep one: it selects all axes that have no other entry");
}

TEST(Selection, MoreIndicesThanAxesAreAnError) {
    EXPECT_EQ(
        index_error({2, 3}, {0, all, slice(0, 1)}),
        "a selection has 3 indices, but the array has 2 axes; buffer 'x' of shape (2, 3), selection {0, all, "
        "slice(0, 1)}; use at most one integer or slice per axis");
    index_error({}, {0});
    index_error({2}, {0, ellipsis, 0});
}

TEST(Selection, MoreThanEightAxesAreAnError) {
    EXPECT_EQ(select({1, 1, 1, 1, 1, 1, 1}, {newaxis}).shape.rank(), 8);
    EXPECT_THAT(error_of(ErrorCode::InvalidShape,
                         [] {
                             (void)select({1, 1, 1, 1, 1, 1, 1, 1}, {all, newaxis});
                         }),
                HasSubstr("the result of a selection would have 9 axes; buffer 'x'"));
    const Part most =
        select({1, 1, 1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0, 0, 0, ellipsis, newaxis, newaxis, newaxis,
                                          newaxis, newaxis, newaxis, newaxis, newaxis});
    EXPECT_EQ(most.shape.rank(), 8);
}

TEST(Selection, TooLongSelectionsAreErrorsForAnyArray) {
    const Shape shape{1, 1, 1, 1, 1, 1, 1, 1};
    index_error(shape, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    index_error(shape,
                {0,       0,       0,       0,       0,       0,        0, 0, newaxis, newaxis, newaxis,
                 newaxis, newaxis, newaxis, newaxis, newaxis, ellipsis, 0, 0, 0,       0});
    error_of(ErrorCode::InvalidShape, [&] {
        (void)select(shape, {0,       0,        0,       0,       0,       0,       0,
                             0,       ellipsis, newaxis, newaxis, newaxis, newaxis, newaxis,
                             newaxis, newaxis,  newaxis, newaxis, newaxis, newaxis});
    });
}

TEST(Selection, AnInvalidSelectionChangesNothing) {
    Shape shape{4, 10};
    Strides strides = row_major_strides(shape);
    index_error(shape, {1, 10});
    EXPECT_THROW((void)detail::select(shape, strides, {1, 10}, "x"), ArgumentError);
    EXPECT_EQ(shape, (Shape{4, 10}));
    EXPECT_EQ(strides, row_major_strides({4, 10}));
}

}  // namespace
}  // namespace volley
