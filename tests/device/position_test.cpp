// Accesses by position, image(y, x): the strides and extents of what is bound, on every device; and grids
// that cover a shape.
#include "support/device_fixture.hpp"
#include "support/expect_error.hpp"

#include <numeric>

namespace volley::testing {
namespace {

/// Writes 1000 * y + x to each element.
Kernel<Buff<u32>> number_elements() {
    return kernel("number_elements", [](Buff<u32> image) {
        const auto x = global_id().x, y = global_id().y;
        image(y, x) = 1000u * y + x;
    });
}

void expect_numbered(const Buffer<u32>& image) {
    const std::vector<u32> got = image.read(0);
    const auto width = static_cast<std::size_t>(image.shape()[1]);
    ASSERT_EQ(got.size(), static_cast<std::size_t>(image.shape().elements()));
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i], 1000 * (i / width) + i % width) << "element " << i;
}

VOLLEY_DEVICE_TEST(Position, RowsAndColumnsOfADenseArray) {
    Buffer<u32> image({7, 53});
    number_elements().over(image)(image);
    expect_numbered(image);
}

VOLLEY_DEVICE_TEST(Position, PaddingIsSkipped) {
    Buffer<u32> image({7, 53}, {.padded_shape = {9, 64}, .zeroed = true});
    number_elements().over(image.shape())(image);
    expect_numbered(image);
    auto flat =
        kernel("flat", [](Buff<u32> to, Buff<const u32> from) { to[global_id().x] = from[global_id().x]; });
    Buffer<u32> memory(9 * 64);
    flat.over(9 * 64)(memory, image);
    const std::vector<u32> all = memory.read(0);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const std::size_t y = i / 64, x = i % 64;
        ASSERT_EQ(all[i], y < 7 && x < 53 ? 1000 * y + x : 0) << y << ", " << x;
    }
}

VOLLEY_DEVICE_TEST(Position, ViewsWithStepsAlongBothAxes) {
    Buffer<u32> base({12, 40});
    base.fill(99999u);
    const Buffer<u32> view = base.sub({slice(1, 11, 3), slice(2, 39, 4)});
    number_elements().over(view)(view);
    expect_numbered(view);
    const std::vector<u32> all = base.read(0);
    EXPECT_EQ(std::count(all.begin(), all.end(), 99999u), 12 * 40 - view.shape().elements());
    // The same kernel with a contiguous last axis, and then with a strided one again.
    Buffer<u32> dense({5, 17});
    auto number = number_elements();
    number.over(dense)(dense);
    expect_numbered(dense);
    base.fill(99999u);
    number.over(view)(view);
    expect_numbered(view);
}

VOLLEY_DEVICE_TEST(Position, OneDimensionWithAStep) {
    Buffer<u32> base(100);
    base.fill(7u);
    const Buffer<u32> view = base.sub({slice(3, 100, 5)});
    kernel("one", [](Buff<u32> data) {
        data(global_id().x) = global_id().x + data.extent(0);
    }).over(view)(view);
    const std::vector<u32> got = base.read(0);
    for (u32 i = 0; i < 100; ++i) ASSERT_EQ(got[i], i >= 3 && (i - 3) % 5 == 0 ? (i - 3) / 5 + 20 : 7) << i;
}

VOLLEY_DEVICE_TEST(Position, LeadingAxesAreMergedIntoZ) {
    const Shape shape{2, 3, 2, 4, 5};
    Buffer<u32> out(shape);
    kernel("five", [](Buff<u32> data) {
        const auto z = global_id().z;
        const auto [a, b, c] = unravel_index(z, data.extent(0), data.extent(1), data.extent(2));
        data(a, b, c, global_id().y, global_id().x) = (z * 100u + global_id().y) * 100u + global_id().x;
    }).over(out)(out);
    const std::vector<u32> got = out.read(0);
    for (u32 i = 0; i < 240; ++i) ASSERT_EQ(got[i], (i / 20 * 100 + i / 5 % 4) * 100 + i % 5) << i;
}

VOLLEY_DEVICE_TEST(Position, IndicesOfEveryIntegerType) {
    Buffer<u32> in({6, 10});
    std::vector<u32> numbers(60);
    std::iota(numbers.begin(), numbers.end(), 0u);
    in.write(numbers);
    Buffer<u32> out({6, 10});
    kernel("types", [](Buff<u32> to, Buff<const u32> from) {
        const auto x = global_id().x, y = global_id().y;
        const auto wide = from(cast<i64>(y), cast<u64>(x));
        const auto narrow = from(cast<i32>(y) - 1 + 1, cast<i16>(x));
        to(y, x) = wide * 10000u + narrow * 100u + from(1, 2);
    }).over(out)(out, in);
    const std::vector<u32> got = out.read(0);
    for (u32 i = 0; i < 60; ++i) ASSERT_EQ(got[i], i * 10100 + 12);
}

VOLLEY_DEVICE_TEST(Position, AtomicsAndReadModifyWrite) {
    Buffer<u32> counts({3, 5}, {.padded_shape = {3, 8}});
    counts.zero();
    kernel("count", [](Buff<u32> grid) {
        const auto i = global_id().x;
        grid.atomic(i % 3u, i % 5u).add(1u);
    }).over(150)(counts);
    EXPECT_EQ(counts.read(0), std::vector<u32>(15, 10));
    kernel("more", [](Buff<u32> grid) { grid(global_id().y, global_id().x) += 5u; }).over(counts)(counts);
    EXPECT_EQ(counts.read(0), std::vector<u32>(15, 15));
}

VOLLEY_DEVICE_TEST(Position, PositionsFirstUsedInABranch) {
    Buffer<u32> image({4, 6});
    image.zero();
    kernel("branch", [](Buff<u32> data) {
        const auto x = global_id().x, y = global_id().y;
        $if (x > 2u) {
            data(y, x) = x;
        }
        $if (y > 1u) {
            data(y, x) += 10u * data.extent(0);
        }
    }).over(image)(image);
    const std::vector<u32> got = image.read(0);
    for (u32 i = 0; i < 24; ++i) ASSERT_EQ(got[i], (i % 6 > 2 ? i % 6 : 0) + (i / 6 > 1 ? 40 : 0)) << i;
}

VOLLEY_DEVICE_TEST(Position, RecordedLaunchesKeepTheLayout) {
    Buffer<u32> image({4, 6}, {.padded_shape = {4, 16}});
    Buffer<u32> other({4, 6}, {.padded_shape = {4, 16}});
    auto add = kernel("add", [](Buff<u32> data, Const<u32> n) {
        data(global_id().y, global_id().x) = global_id().y * data.extent(1) + global_id().x + n;
    });
    auto graph = record([&] { add.over(image)(image, dyn<u32>("n")); });
    graph.bind("n", 5u);
    graph.submit();
    std::vector<u32> expected(24);
    std::iota(expected.begin(), expected.end(), 5u);
    EXPECT_EQ(image.read(0), expected);
    graph.rebind(image, other);
    graph.submit();
    EXPECT_EQ(other.read(0), expected);
}

VOLLEY_DEVICE_TEST(Position, BuffersOfAnotherRankAreRefused) {
    Buffer<u32> image({4, 6}), row(24);
    auto number = number_elements();
    const std::string text = error_of(ErrorCode::InvalidLaunch, [&] { number.over({6, 4})(row); });
    expect_contains(text, "argument 1 has 1 dimension, but the kernel accesses it with 2 indices");
    error_of(ErrorCode::InvalidLaunch, [&] { static_cast<void>(record([&] { number.over({6, 4})(row); })); });
    error_of(ErrorCode::InvalidArgument, [&] { number.over({6, 4})(Buffer<u32>()); });
    auto third = kernel("third", [](Buff<u32> data) { data[global_id().x] = data.extent(2); });
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { third.over(1)(image); }), "extent(2)");
    number.over(image)(image);
    expect_numbered(image);
}

VOLLEY_DEVICE_TEST(Position, GridsOfShapes) {
    EXPECT_EQ(GridSize(Shape{3, 4}), GridSize({4, 3}));
    EXPECT_EQ(GridSize(Shape{2, 3, 4}), GridSize({4, 3, 2}));
    EXPECT_EQ(GridSize(Shape{5, 2, 3, 4}), GridSize({4, 3, 10}));
    EXPECT_EQ(GridSize(Shape{}), GridSize(1));
    EXPECT_EQ(GridSize(Shape{3, 0}), GridSize({0, 3}));
    Buffer<u32> image({4, 6});
    image.zero();
    auto number = number_elements();
    number.over(Shape{4, 0})(image);
    EXPECT_EQ(image.read(0), std::vector<u32>(24));
    const Shape huge{std::int64_t{1} << 40, std::int64_t{1} << 40, 2, 2};
    error_of(ErrorCode::InvalidLaunch, [&] { number.over(huge)(image); });
}

}  // namespace
}  // namespace volley::testing
