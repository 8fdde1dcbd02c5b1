// Nested braces: shape, elements, and the error messages for lists of different lengths.
#include "support/expect_error.hpp"

#include <volley/nested_list.hpp>
#include <volley/vec.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

namespace volley {
namespace {

using detail::nested;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Overloads for each depth, as functions that take nested lists have.
template <class T>
Shape shape_of(std::initializer_list<T> list) {
    return nested(list).shape;
}
template <class T>
Shape shape_of(std::initializer_list<std::initializer_list<T>> rows) {
    return nested(rows).shape;
}
template <class T>
Shape shape_of(std::initializer_list<std::initializer_list<std::initializer_list<T>>> planes) {
    return nested(planes).shape;
}

TEST(NestedList, HasTheShapeOfItsBraces) {
    EXPECT_EQ(shape_of({1, 2, 3}), Shape{3});
    EXPECT_EQ(shape_of({{1, 2, 3}, {4, 5, 6}}), (Shape{2, 3}));
    EXPECT_EQ(shape_of({{{1}, {2}}, {{3}, {4}}, {{5}, {6}}}), (Shape{3, 2, 1}));
    EXPECT_EQ(shape_of<float>({{1, 2}, {3, 4}}), (Shape{2, 2}));
    EXPECT_EQ(shape_of({{vec2(1, 2), vec2(3, 4)}}), (Shape{1, 2}));
}

TEST(NestedList, HasItsElementsInRowMajorOrder) {
    EXPECT_THAT(nested({1, 2, 3}).elements(), ElementsAre(1, 2, 3));
    EXPECT_THAT(nested({{1, 2, 3}, {4, 5, 6}}).elements(), ElementsAre(1, 2, 3, 4, 5, 6));
    EXPECT_THAT(nested({{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}).elements(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
    EXPECT_THAT(nested({{true, false}, {false, true}}).elements(), ElementsAre(true, false, false, true));
}

TEST(NestedList, MayBeEmpty) {
    const std::initializer_list<int> none_at_all = {};
    EXPECT_EQ(nested(none_at_all).shape, Shape{0});
    EXPECT_EQ(nested({none_at_all, none_at_all}).shape, (Shape{2, 0}));
    EXPECT_THAT(nested({none_at_all, none_at_all}).elements(), IsEmpty());
    EXPECT_EQ(nested({{none_at_all}}).shape, (Shape{1, 1, 0}));
}

TEST(NestedList, RefusesListsOfDifferentLengths) {
    EXPECT_EQ(error_of(ErrorCode::InvalidShape,
                       [] {
                           (void)nested({{1, 2, 3}, {4, 5}});
                       }),
              "row 1 has 2 elements, row 0 has 3; nested lists; use lists of equal length at each level");
    EXPECT_THAT(error_of(ErrorCode::InvalidShape,
                         [] {
                             (void)nested({{{1, 2}, {3, 4}}, {{5, 6}, {7}}});
                         }),
                HasSubstr("row 1 of plane 1 has 1 elements, row 0 of plane 0 has 2"));
    EXPECT_THAT(error_of(ErrorCode::InvalidShape,
                         [] {
                             (void)nested({{{1, 2}, {3, 4}}, {{5, 6}}});
                         }),
                HasSubstr("plane 1 has 1 rows, plane 0 has 2"));
}

}  // namespace
}  // namespace volley
