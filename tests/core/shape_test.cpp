// Shapes: construction, checked sizes, strides with padding, ravel and unravel.
#include <gtest/gtest.h>
#include <volley/shape.hpp>

#include <functional>
#include <string>
#include <vector>

namespace volley {
namespace {

ErrorCode code_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const ArgumentError& error) {
        EXPECT_FALSE(error.advice().empty()) << error.what();
        return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorCode::Internal;
}

std::int64_t rank_of(const Shape& shape) { return shape.rank(); }

TEST(Shape, IsConstructedFromAnyIntegers) {
    const std::size_t n = 3;
    const unsigned short m = 4;
    EXPECT_EQ(Shape({n, m, 5}).to_string(), "(3, 4, 5)");
    EXPECT_EQ(rank_of(12), 1);
    EXPECT_EQ(rank_of({2, 3}), 2);
    EXPECT_EQ(Shape(7).to_string(), "(7,)");
    const std::vector<std::int64_t> extents{1, 2};
    EXPECT_EQ(Shape(extents), (Shape{1, 2}));
    static_assert(Shape{2, 3}[1] == 3);
    static_assert(Shape{2, 3} == Shape{2, 3} && Shape{2, 3} != Shape{2, 3, 1});
}

TEST(Shape, InvalidShapesAreErrors) {
    EXPECT_EQ(code_of([] { (void)Shape{2, -1}; }), ErrorCode::InvalidShape);
    EXPECT_EQ(code_of([] { (void)Shape(-5); }), ErrorCode::InvalidShape);
    EXPECT_EQ(code_of([] { (void)Shape(UINT64_MAX); }), ErrorCode::Overflow);
    EXPECT_EQ(code_of([] { (void)Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }), ErrorCode::InvalidShape);
    EXPECT_NO_THROW((Shape{1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST(Shape, CountsElementsAndBytesWithoutOverflow) {
    EXPECT_EQ(Shape().elements(), 1);
    EXPECT_EQ((Shape{3, 4}).elements(), 12);
    EXPECT_EQ((Shape{3, 4}).bytes(8), 96);
    EXPECT_EQ((Shape{INT64_MAX, 0, INT64_MAX}).elements(), 0);
    EXPECT_EQ((Shape{INT64_MAX}).elements(), INT64_MAX);
    EXPECT_EQ(code_of([] { (void)Shape{INT64_MAX, 2}.elements(); }), ErrorCode::Overflow);
    EXPECT_EQ(code_of([] { (void)Shape{std::int64_t{1} << 61}.bytes(4); }), ErrorCode::Overflow);
}

TEST(Strides, AreRowMajorAndFollowThePadding) {
    EXPECT_EQ(row_major_strides({17, 13}).to_string(), "(13, 1)");
    EXPECT_EQ(row_major_strides({32, 16}).to_string(), "(16, 1)");
    EXPECT_EQ(row_major_byte_strides({2, 3, 4}, 8).to_string(), "(96, 32, 8)");
    EXPECT_EQ(row_major_strides({}).rank(), 0);
    EXPECT_EQ(row_major_strides({INT64_MAX, 2}).to_string(), "(2, 1)");
    EXPECT_EQ(code_of([] { (void)row_major_strides({1, INT64_MAX, 2}); }), ErrorCode::Overflow);
}

TEST(Strides, PaddingMustCoverTheShape) {
    EXPECT_NO_THROW(check_padding({17, 13}, {32, 16}));
    EXPECT_NO_THROW(check_padding({17, 13}, {17, 13}));
    EXPECT_EQ(code_of([] { check_padding({17, 13}, {16, 16}); }), ErrorCode::InvalidShape);
    EXPECT_EQ(code_of([] { check_padding({17, 13}, {32}); }), ErrorCode::InvalidShape);
}

TEST(Index, RavelAndUnravelAreInverse) {
    const Shape shape{3, 4, 5};
    for (std::int64_t i = 0; i < shape.elements(); ++i)
        EXPECT_EQ(ravel_index(unravel_index(i, shape), shape), i);
    EXPECT_EQ(ravel_index({1, 2, 3}, shape), 33);
    EXPECT_EQ(unravel_index(33, shape), (Index{1, 2, 3}));
    EXPECT_EQ(ravel_index({}, Shape{}), 0);
}

TEST(Index, OutOfRangeIsAnError) {
    EXPECT_EQ(code_of([] { (void)ravel_index({3, 0}, {3, 4}); }), ErrorCode::IndexError);
    EXPECT_EQ(code_of([] { (void)ravel_index({0, -1}, {3, 4}); }), ErrorCode::IndexError);
    EXPECT_EQ(code_of([] { (void)ravel_index({0}, {3, 4}); }), ErrorCode::InvalidShape);
    EXPECT_EQ(code_of([] { (void)unravel_index(12, {3, 4}); }), ErrorCode::IndexError);
    EXPECT_EQ(code_of([] { (void)unravel_index(0, {0, 4}); }), ErrorCode::IndexError);
    EXPECT_EQ(code_of([] { (void)unravel_index(-1, {3, 4}); }), ErrorCode::IndexError);
}

TEST(Index, OffsetsFollowTheStrides) {
    EXPECT_EQ(strided_offset({1, 2}, row_major_strides({32, 16})), 18);
    EXPECT_EQ(code_of([] {
                  (void)strided_offset({1}, row_major_strides({32, 16}));
              }),
              ErrorCode::InvalidShape);
}

}  // namespace
}  // namespace volley
