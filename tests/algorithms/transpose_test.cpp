// Permutations of axes, against plain loops on the host.
#include "support/backend_test.hpp"

#include <volley/algorithms/map.hpp>
#include <volley/algorithms/transpose.hpp>

#include <complex>
#include <numeric>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;

template <class T>
std::vector<T> counted(std::size_t count) {
    std::vector<T> values;
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_integral_v<T>) {
            values.push_back(static_cast<T>(i % 2039));
        } else {
            values.push_back(static_cast<T>(static_cast<float>(i % 2039)));
        }
    }
    return values;
}

Shape permuted_on_host(const Shape& shape, const std::vector<int>& axes) {
    std::vector<std::int64_t> extents;
    for (const int axis : axes) extents.push_back(shape[axis]);
    return Shape(std::span<const std::int64_t>(extents));
}

template <class T>
std::vector<T> permuted_on_host(const std::vector<T>& from, const Shape& shape,
                                const std::vector<int>& axes) {
    const Shape to_shape = permuted_on_host(shape, axes);
    std::vector<T> to(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        const Index index = unravel_index(static_cast<std::int64_t>(i), shape);
        std::vector<std::int64_t> moved;
        for (const int axis : axes) moved.push_back(index[axis]);
        to[static_cast<std::size_t>(ravel_index(Index(std::span<const std::int64_t>(moved)), to_shape))] =
            from[i];
    }
    return to;
}

std::vector<int> reversed_axes(int rank) {
    std::vector<int> axes(static_cast<std::size_t>(rank));
    std::iota(axes.rbegin(), axes.rend(), 0);
    return axes;
}

template <class T>
void expect_permuted(const Shape& shape, std::vector<int> axes) {
    const std::vector<T> data = counted<T>(static_cast<std::size_t>(shape.elements()));
    const Buffer<T> from = as_buffer(data, shape);
    if (axes.empty()) axes = reversed_axes(shape.rank());
    const std::vector<T> expected = permuted_on_host(data, shape, axes);
    const Buffer<T> got = transpose(from, axes);
    EXPECT_EQ(got.shape(), permuted_on_host(shape, axes));
    EXPECT_EQ(got.read(0), expected) << shape.to_string();
    Buffer<T> out(got.shape());
    transpose(out, from, {.axes = axes});
    EXPECT_EQ(out.read(0), expected) << shape.to_string();
}

VOLLEY_DEVICE_TEST(TransposeArrays, ExchangesTheAxesOfMatrices) {
    for (const Shape& shape :
         {Shape{1, 1}, Shape{2, 3}, Shape{7, 1}, Shape{8, 8}, Shape{16, 64}, Shape{17, 65}, Shape{64, 16},
          Shape{31, 130}, Shape{128, 32}, Shape{100, 3}, Shape{3, 100}}) {
        expect_permuted<float>(shape, {});
    }
}

VOLLEY_DEVICE_TEST(TransposeArrays, HaveAnyType) {
    for (const Shape& shape : {Shape{19, 70}, Shape{64, 64}}) {
        every_type<i8, u16, f16, int, float, u64, double>([&]<class T>() { expect_permuted<T>(shape, {}); });
        expect_permuted<std::complex<float>>(shape, {});
        expect_permuted<std::complex<double>>(shape, {});
        expect_permuted<vec<float, 3>>(shape, {});
    }
}

VOLLEY_DEVICE_TEST(TransposeArrays, PermuteManyAxes) {
    expect_permuted<int>({3, 20, 18}, {});
    expect_permuted<int>({3, 20, 18}, {0, 2, 1});
    expect_permuted<int>({20, 3, 18}, {1, 2, 0});
    expect_permuted<int>({20, 3, 18}, {1, 0, 2});
    expect_permuted<int>({4, 9, 10, 11}, {0, 3, 1, 2});
    expect_permuted<int>({4, 1, 9, 10}, {3, 1, 2, 0});
    expect_permuted<int>({2, 3, 4, 5, 9}, {4, 2, 0, 3, 1});
    expect_permuted<int>({9, 2, 3, 2, 9}, {4, 3, 2, 1, 0});
    expect_permuted<int>({2, 2, 2, 2, 2, 2, 2, 2}, {7, 0, 6, 1, 5, 2, 4, 3});
}

VOLLEY_DEVICE_TEST(TransposeArrays, ReadAndWriteViews) {
    const std::vector<int> data = counted<int>(40 * 90);
    const Buffer<int> whole = as_buffer(data, Shape{40, 90});
    const Buffer<int> part = whole.sub({slice(1, 38), slice(3, 90, 3)});  // 37 x 29
    Buffer<int> out({29, 37}, {.padded_shape = {30, 40}});
    transpose(out, part);
    EXPECT_EQ(out.read(0), permuted_on_host(part.read(0), part.shape(), {1, 0}));
    const Buffer<int> padded({16, 64}, {.padded_shape = {18, 67}});
    transpose(padded, as_buffer(counted<int>(64 * 16), Shape{64, 16}));
    EXPECT_EQ(padded.read(0), permuted_on_host(counted<int>(1024), {64, 16}, {1, 0}));
    Buffer<int> rows({40, 90});
    rows.fill(-1);
    transpose(rows.sub({slice(0, 29), slice(1, 75, 2)}), part);  // strided stores
    EXPECT_EQ(rows.sub({slice(0, 29), slice(1, 75, 2)}).read(0),
              permuted_on_host(part.read(0), part.shape(), {1, 0}));
    EXPECT_EQ(rows.sub({slice(0, 29), slice(0, 75, 2)}).read(0), std::vector<int>(29 * 38, -1));
}

VOLLEY_DEVICE_TEST(TransposeArrays, FuseMapsAndStoreMaps) {
    const Buffer<float> a = as_buffer(counted<float>(30 * 40), Shape{30, 40});
    const auto negated = store_map([](Value<u32> i, Value<float> x, Buff<float> to) { to[i] = -x; });
    const Buffer<float> out({40, 30});
    transpose(negated(out), lazy(a) + 1.F);
    const std::vector<float> got = out.read(0), from = a.read(0);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], -(from[i % 30 * 40 + i / 30] + 1)) << i;
    const Buffer<float> sum = lazy(a) + transpose(out);
    const std::vector<float> sums = sum.read(0);
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], -1.F);
    const auto numbers = map([](Value<u32> y, Value<u32> x) { return y * 1000U + x; }).over({20, 30})();
    const std::vector<u32> transposed = evaluate(transpose(numbers)).read(0);
    for (std::size_t i = 0; i < transposed.size(); ++i) EXPECT_EQ(transposed[i], i % 20 * 1000 + i / 20);
}

VOLLEY_DEVICE_TEST(TransposeArrays, HaveTunableTiles) {
    const std::vector<float> data = counted<float>(70 * 45);
    const Buffer<float> a = as_buffer(data, Shape{70, 45});
    const std::vector<float> expected = permuted_on_host(data, {70, 45}, {1, 0});
    for (const TransposeTuning& tuning :
         {TransposeTuning{32, 32, 4, 1}, TransposeTuning{8, 8, 8, 1}, TransposeTuning{16, 16, 1, 2},
          TransposeTuning{64, 16, 16, 1}, TransposeTuning{16, 8, 2, 1}}) {
        Buffer<float> out({45, 70});
        transpose(out, a, {.tuning = tuning});
        EXPECT_EQ(out.read(0), expected) << tuning.tile_from << ' ' << tuning.shared;
    }
    Buffer<float> out({45, 70});
    error_of(ErrorCode::InvalidArgument, [&] { transpose(out, a, {.tuning = {.tile_to = 12, .items = 5}}); });
    error_of(ErrorCode::InvalidArgument, [&] { transpose(out, a, {.tuning = {.tile_from = 4096}}); });
}

VOLLEY_BACKEND_TEST(TransposeViews, AreLazyAndCompose) {
    const Buffer<int> a = as_buffer(counted<int>(2 * 3 * 4), Shape{2, 3, 4});
    EXPECT_EQ(transpose(a).shape(), (Shape{4, 3, 2}));
    EXPECT_EQ(swap_axes(a, 0, -1).shape(), (Shape{4, 3, 2}));
    EXPECT_EQ(move_axis(a, 0, 2).shape(), (Shape{3, 4, 2}));
    EXPECT_EQ(move_axis(a, -1, 0).shape(), (Shape{4, 2, 3}));
    EXPECT_EQ(evaluate(transpose(transpose(a, {1, 2, 0}), {2, 0, 1})).read(0), a.read(0));
    EXPECT_EQ(AnySource(transpose(transpose(a))).buffer()->id(), a.id()) << "the identity is the buffer";
    EXPECT_EQ(evaluate(swap_axes(a, 1, 2)).read(0), permuted_on_host(a.read(0), a.shape(), {0, 2, 1}));
    EXPECT_EQ(evaluate(transpose(a).reshape({24})).read(0),
              permuted_on_host(a.read(0), a.shape(), {2, 1, 0}));
    EXPECT_EQ(evaluate(transpose(a, {-1, 0, 1})).read(0), permuted_on_host(a.read(0), a.shape(), {2, 0, 1}));
}

VOLLEY_BACKEND_TEST(TransposeViews, TakeFewAxesAndNoElements) {
    const Buffer<int> line = as_buffer(counted<int>(9));
    EXPECT_EQ(evaluate(transpose(line)).read(0), line.read(0));
    Buffer<int> scalar(Shape{});
    scalar.fill(5);
    EXPECT_EQ(evaluate(transpose(scalar)).item(), 5);
    const Buffer<int> none = transpose(Buffer<int>({0, 7}));
    EXPECT_EQ(none.shape(), (Shape{7, 0}));
    Buffer<int> out({20, 0, 30});
    EXPECT_NO_THROW(transpose(out, Buffer<int>({30, 20, 0}), {.axes = {1, 2, 0}}));
}

VOLLEY_BACKEND_TEST(TransposeViews, RunInGraphsAndOnQueues) {
    Buffer<int> a = as_buffer(counted<int>(40 * 20), Shape{40, 20});
    Buffer<int> b({20, 40});
    CommandGraph graph = record([&] {
        transpose(b, a);
        transform(b, lazy(b) + 1);
        transpose(a, b);
    });
    graph.submit({.instances = 3, .queue = queue(1)});
    EXPECT_EQ(a.read(1)[799], 799 + 3);
    EXPECT_EQ(a.read(0)[799], 799);
    const Buffer<int> one = evaluate(transpose(a), {.queue = queue(1)});
    EXPECT_EQ(one.placement(), Placement::on(queue(1)));
    EXPECT_EQ(one.read(1)[799], 802);
}

VOLLEY_BACKEND_TEST(TransposeErrors, RefuseWhatIsNoPermutation) {
    Buffer<int> a({3, 4}), out({4, 3});
    out.fill(7);
    const auto refused = [](ErrorCode code, auto call) { return error_of(code, call); };
    expect_contains(refused(ErrorCode::IndexError,
                            [&] {
                                static_cast<void>(transpose(a, {0, 2}));
                            }),
                    "axis 2");
    refused(ErrorCode::IndexError, [&] { static_cast<void>(transpose(a, {-3, 0})); });
    expect_contains(refused(ErrorCode::InvalidArgument,
                            [&] {
                                static_cast<void>(transpose(a, {1, -1}));
                            }),
                    "repeated");
    expect_contains(refused(ErrorCode::InvalidArgument, [&] { static_cast<void>(transpose(a, {1})); }),
                    "1 axis was named");
    refused(ErrorCode::IndexError, [&] { static_cast<void>(swap_axes(a, 0, 2)); });
    refused(ErrorCode::IndexError, [&] { static_cast<void>(move_axis(a, 0, 2)); });
    refused(ErrorCode::SizeMismatch, [&] { transpose(out, out); });
    refused(ErrorCode::TypeMismatch, [&] { transpose(out, Buffer<float>({3, 4})); });
    Buffer<int> square({9, 9});
    square.fill(1);
    expect_contains(refused(ErrorCode::InvalidView, [&] { transpose(square, square); }), "overlaps");
    refused(ErrorCode::InvalidView, [&] { transform(square, transpose(square)); });
    refused(ErrorCode::InvalidView, [&] { transform(square, lazy(square) + transpose(square)); });
    EXPECT_EQ(out.read(0)[11], 7) << "nothing was written";
    EXPECT_NO_THROW(transform(square, lazy(square) + evaluate(transpose(square))));
}

}  // namespace
}  // namespace volley
