// Views of arrays: elements by index, parts, iteration, and views of an mdspan.
#include "core/array_model.hpp"
#include "support/expect_error.hpp"

#include <volley/array_view.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

namespace volley {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Random;

std::vector<int> numbers(std::int64_t count) {
    std::vector<int> list(static_cast<std::size_t>(count));
    std::iota(list.begin(), list.end(), 0);
    return list;
}

template <class T>
std::vector<std::remove_const_t<T>> elements(const ArrayView<T>& view) {
    return {view.begin(), view.end()};
}

Strides strides(const std::vector<std::int64_t>& list) { return Strides(list); }

TEST(ArrayView, HasElementsByIndex) {
    std::vector<int> data = numbers(12);
    const ArrayView<int> view(data.data(), {3, 4});
    EXPECT_EQ(view(1, 2), 6);
    EXPECT_EQ(view(std::size_t{2}, 3u), 11);
    view(2, 0) = 77;
    EXPECT_EQ(data[8], 77);
    EXPECT_EQ(view.rank(), 2);
    EXPECT_EQ(view.extent(1), 4);
    EXPECT_EQ(view.stride(0), 4);
    EXPECT_EQ(view.size(), 12u);
    EXPECT_EQ(view.shape(), (Shape{3, 4}));
    EXPECT_EQ(view.strides(), row_major_strides({3, 4}));
    EXPECT_EQ(view.data(), data.data());
    EXPECT_FALSE(view.empty());
    EXPECT_TRUE(view.is_contiguous());
}

TEST(ArrayView, StridesMayBeAnyNumberOfElements) {
    std::vector<int> data = numbers(12);
    const ArrayView<int> transposed(data.data(), {4, 3}, strides({1, 4}));
    EXPECT_EQ(transposed(2, 1), 6);
    EXPECT_FALSE(transposed.is_contiguous());
    const ArrayView<int> reversed(data.data() + 11, {12}, strides({-1}));
    EXPECT_EQ(reversed(0), 11);
    EXPECT_EQ(elements(reversed).back(), 0);
    EXPECT_EQ(elements(reversed[slice(1, none, 5)]), (std::vector<int>{10, 5, 0}));
    const ArrayView<int> repeated(data.data(), {2, 3}, strides({0, 1}));
    EXPECT_THAT(elements(repeated), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(ArrayView, CheckedAccessNamesTheIndexAndTheShape) {
    std::vector<int> data = numbers(12);
    const ArrayView<int> view(data.data(), {3, 4});
    EXPECT_EQ(view.at(2, 3), 11);
    view.at(0, 0) = 5;
    EXPECT_EQ(data[0], 5);
    EXPECT_THAT(error_of(ErrorCode::IndexError, [&] { (void)view.at(2, 4); }),
                HasSubstr("dimension 1 is out of range; index (2, 4), shape (3, 4); use 0 to 3"));
    error_of(ErrorCode::IndexError, [&] { (void)view.at(-1, 0); });
    error_of(ErrorCode::IndexError, [&] { (void)view.at(UINT64_MAX, 0); });
    EXPECT_THAT(error_of(ErrorCode::InvalidShape, [&] { (void)view.at(2); }),
                HasSubstr("an index: the ranks 1 and 2 differ; index (2,), shape (3, 4)"));
    error_of(ErrorCode::InvalidShape, [&] { (void)view.at(0, 0, 0); });
    EXPECT_THAT(error_of(ErrorCode::IndexError, [] { (void)ArrayView<int>().at(0); }),
                HasSubstr("an empty array has no elements"));
}

TEST(ArrayView, OfRankZeroHasOneElement) {
    int one = 7;
    const ArrayView<int> view(&one, {});
    EXPECT_EQ(view(), 7);
    EXPECT_EQ(view.at(), 7);
    EXPECT_EQ(view.size(), 1u);
    EXPECT_THAT(elements(view), ElementsAre(7));
}

TEST(ArrayView, CanBeEmpty) {
    const ArrayView<const int> nothing;
    EXPECT_TRUE(nothing.empty());
    EXPECT_EQ(nothing.shape(), Shape{0});
    EXPECT_THAT(elements(nothing), IsEmpty());
    const ArrayView<int> flat(nullptr, {3, 0, 2});
    EXPECT_THAT(elements(flat), IsEmpty());
    EXPECT_EQ(flat[1].shape(), (Shape{0, 2}));
    EXPECT_TRUE(flat.is_contiguous());
}

TEST(ArrayView, InvalidViewsAreErrors) {
    int one = 0;
    EXPECT_THAT(error_of(ErrorCode::InvalidArgument, [] { (void)ArrayView<int>(nullptr, {3}); }),
                HasSubstr("a non-empty view has a null data pointer; shape (3,)"));
    error_of(ErrorCode::InvalidShape, [&] { (void)ArrayView<int>(&one, {1, 1}, strides({1})); });
    error_of(ErrorCode::Overflow, [&] { (void)ArrayView<int>(&one, {INT64_MAX, 2}); });
}

TEST(ArrayView, ConvertsToAViewOfConstants) {
    std::vector<int> data = numbers(4);
    const ArrayView<int> view(data.data(), {2, 2});
    const ArrayView<const int> constant = view;
    EXPECT_EQ(constant(1, 1), 3);
    EXPECT_EQ(constant.shape(), view.shape());
    static_assert(std::convertible_to<ArrayView<int>, ArrayView<const int>>);
    static_assert(!std::convertible_to<ArrayView<const int>, ArrayView<int>>);
    static_assert(!std::convertible_to<ArrayView<int>, ArrayView<const long>>);
    static_assert(std::same_as<decltype(constant(0, 0)), const int&>);
}

TEST(ArrayView, PartsAreSelectedLikeRegions) {
    std::vector<int> data = numbers(24);
    const ArrayView<int> view(data.data(), {2, 3, 4});
    EXPECT_THAT(elements(view[{1, slice(0, 3, 2), slice(none, 2)}]), ElementsAre(12, 13, 20, 21));
    EXPECT_THAT(elements(view[{ellipsis, -1}]), ElementsAre(3, 7, 11, 15, 19, 23));
    EXPECT_THAT(elements(view[1][2]), ElementsAre(20, 21, 22, 23));
    EXPECT_EQ(view[1][2][3](), 23);
    EXPECT_EQ(view[all].shape(), view.shape());
    EXPECT_EQ((view[{newaxis, 0}].shape()), (Shape{1, 3, 4}));
    EXPECT_TRUE(view[1].is_contiguous());
    EXPECT_FALSE((view[{all, 1}].is_contiguous()));
    view[{0, 0}](3) = 55;
    EXPECT_EQ(data[3], 55);
    EXPECT_THAT(
        error_of(ErrorCode::IndexError,
                 [&] {
                     (void)view[{0, 3}];
                 }),
        HasSubstr(
            "the index 3 is out of range for axis 1, which has the extent 3; a view of shape (2, 3, 4)"));
    error_of(ErrorCode::IndexError, [&] { (void)view[{0, 0, 0, 0}]; });
}

TEST(ArrayView, IteratesInRowMajorOrder) {
    std::vector<int> data = numbers(24);
    const ArrayView<int> view(data.data(), {2, 3, 4});
    static_assert(std::forward_iterator<ArrayView<int>::iterator>);
    static_assert(std::ranges::forward_range<const ArrayView<int>>);
    EXPECT_EQ(elements(view), data);
    const ArrayView<int> part = view[{all, slice(1, 3), slice(0, 4, 3)}];
    EXPECT_THAT(elements(part), ElementsAre(4, 7, 8, 11, 16, 19, 20, 23));
    for (int& element : part) element = -1;
    EXPECT_EQ(std::count(data.begin(), data.end(), -1), 8);
    EXPECT_EQ(data[4], -1);
    auto i = view.begin();
    const auto before = i++;
    EXPECT_EQ(*before, 0);
    EXPECT_EQ(*i, 1);
    EXPECT_EQ(std::ranges::distance(view), 24);
}

TEST(ArrayView, ReachesTheMembersOfItsElements) {
    struct Point {
        int x;
    };
    Point points[] = {{1}, {2}};
    const ArrayView<Point> view(points, 2);
    EXPECT_EQ(std::next(view.begin())->x, 2);
}

TEST(ArrayView, PartsAgreeWithTheModel) {
    testing::for_each_seed(1000, [](Random& random) {
        const Shape shape = random_shape(random, 5);
        const Shape padded = random_padding(random, shape);
        const std::vector<int> data = numbers(padded.elements());
        const int spare = 0;
        const ArrayView<const int> view(data.empty() ? &spare : data.data(), shape,
                                        row_major_strides(padded));
        const Selection selection = random_selection(random, shape);
        SCOPED_TRACE(selection.to_string() + " of " + shape.to_string() + " in " + padded.to_string());
        const testing::Selected expected = testing::select(testing::model_of(shape, padded), selection);
        if (expected.refusal) {
            error_of(*expected.refusal, [&] { (void)view[selection]; });
            return;
        }
        const ArrayView<const int> part = view[selection];
        EXPECT_EQ(part.shape(), expected.part.shape);
        EXPECT_EQ(elements(part), std::vector<int>(expected.part.places.begin(), expected.part.places.end()));
    });
}

// The part of C++23's std::mdspan interface that a view needs.
template <class T, class Reference = T&>
struct Mdspan {
    using element_type = T;
    using reference = Reference;
    using size_type = unsigned;

    T* data;
    std::vector<int> extents;
    std::vector<int> steps;
    bool strided = true;

    [[nodiscard]] std::size_t rank() const { return extents.size(); }
    [[nodiscard]] int extent(std::size_t axis) const { return extents[axis]; }
    [[nodiscard]] int stride(std::size_t axis) const { return steps[axis]; }
    [[nodiscard]] bool is_strided() const { return strided; }
    [[nodiscard]] T* const& data_handle() const { return data; }
};

static_assert(detail::MdspanLike<Mdspan<float>>);
static_assert(detail::MdspanLike<Mdspan<const float>>);
static_assert(!detail::MdspanLike<Mdspan<float, float>>);  // its accessor computes
static_assert(!detail::MdspanLike<std::vector<float>>);
static_assert(!detail::MdspanLike<ArrayView<float>>);

TEST(AsView, OfAnMdspanHasItsShapeAndStrides) {
    std::vector<int> data = numbers(12);
    const auto view = as_view(Mdspan<int>{data.data(), {3, 4}, {4, 1}});
    static_assert(std::same_as<decltype(view), const ArrayView<int>>);
    EXPECT_EQ(elements(view), data);
    const auto left = as_view(Mdspan<const int>{data.data(), {3, 4}, {1, 3}});
    static_assert(std::same_as<decltype(left), const ArrayView<const int>>);
    EXPECT_THAT(elements(left[0]), ElementsAre(0, 3, 6, 9));
    EXPECT_EQ(as_view(Mdspan<int>{data.data(), {}, {}})(), 0);
}

TEST(AsView, InvalidMdspansAreErrors) {
    int one = 0;
    EXPECT_THAT(error_of(ErrorCode::InvalidArgument,
                         [&] {
                             (void)as_view(Mdspan<int>{&one, {1}, {1}, false});
                         }),
                HasSubstr("has no strides"));
    error_of(ErrorCode::InvalidArgument, [] { (void)as_view(Mdspan<int>{nullptr, {1}, {1}}); });
    const std::vector<int> nine(9, 1);
    EXPECT_THROW((void)as_view(Mdspan<int>{&one, nine, nine}), ArgumentError);
    EXPECT_THROW((void)as_view(Mdspan<int>{&one, {-1}, {1}}), ArgumentError);
}

}  // namespace
}  // namespace volley
