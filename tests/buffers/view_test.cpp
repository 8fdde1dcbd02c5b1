// Views of a storage: windows, reinterpreted, nested, selected, passed to kernels.
#include "buffers/buffer_support.hpp"

#include <complex>

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::make_twice;
using testing::numbers;

VOLLEY_BACKEND_TEST(View, IsAWindowOfItsParent) {
    const Buffer<int> base = as_buffer(numbers(16));
    const Buffer<int> view = base.view(4, 8);
    EXPECT_EQ(view.size(), 8u);
    EXPECT_EQ(view.offset(), 16u);
    EXPECT_EQ(view.bytes(), 32u);
    EXPECT_EQ(view.window_bytes(), 32u);
    EXPECT_EQ(view.read(0), (std::vector<int>{4, 5, 6, 7, 8, 9, 10, 11}));
    EXPECT_EQ(view.view(2, 3).read(1), (std::vector<int>{6, 7, 8}));
    EXPECT_EQ(view.view(2, 3).offset(), 24u);
}

VOLLEY_BACKEND_TEST(View, MayBeFullOrEmptyAtTheEnd) {
    const Buffer<int> base = as_buffer(numbers(16));
    EXPECT_EQ(base.view(0, 16).read(0), numbers(16));
    EXPECT_TRUE(base.view(16, 0).read(0).empty());
    EXPECT_EQ(base.view(16, 0).size(), 0u);
}

VOLLEY_BACKEND_TEST(View, OutsideOfItsParentIsAnError) {
    const Buffer<int> view = Buffer<int>(16, {.name = "samples"}).view(4, 8);
    error_of(ErrorCode::InvalidView, [&] { static_cast<void>(view.view(0, 9)); });
    error_of(ErrorCode::InvalidView, [&] { static_cast<void>(view.view(9, 0)); });
    error_of(ErrorCode::InvalidView, [&] { static_cast<void>(view.view(~std::size_t{0}, 2)); });
    error_of(ErrorCode::InvalidView, [&] { static_cast<void>(view.view(2, ~std::size_t{0})); });
    const std::string text = error_of(ErrorCode::InvalidView, [&] { static_cast<void>(view.view(3, 7)); });
    expect_contains(text, "'samples'");
    expect_contains(text, "7 elements at 3");
    expect_contains(text, "of 8 elements");
    const Buffer<std::uint8_t> bytes = view.view_as<std::uint8_t>();
    expect_contains(error_of(ErrorCode::InvalidView, [&] { static_cast<void>(bytes.view(30, 3)); }),
                    "of 32 elements");
}

VOLLEY_BACKEND_TEST(View, HasAnIdentityOfItsOwnAndTheStorageOfItsBase) {
    const Buffer<int> base(16);
    const Buffer<int> view = base.view(0, 16);
    const Buffer<int> copy = view;
    EXPECT_NE(view.id(), base.id());
    EXPECT_EQ(copy.id(), view.id());
    EXPECT_EQ(view.storage_id(), base.storage_id());
    EXPECT_NE(Buffer<int>(16).storage_id(), base.storage_id());
    static_assert(!std::is_convertible_v<BufferId, StorageId>);
}

VOLLEY_BACKEND_TEST(View, AllocatesItsBase) {
    Buffer<int> base(16);
    Buffer<int> view = base.view(4, 2);
    EXPECT_FALSE(base.is_allocated(0));
    view.write({1, 2});
    EXPECT_TRUE(base.is_allocated(0));
    EXPECT_TRUE(base.view(8, 8).is_allocated(1));
}

VOLLEY_BACKEND_TEST(View, KeepsTheStorageWhenTheBaseIsGone) {
    Buffer<int> view;
    {
        const Buffer<int> base = as_buffer(numbers(16));
        view = base.view(8, 4);
    }
    EXPECT_EQ(view.read(0), (std::vector<int>{8, 9, 10, 11}));
}

VOLLEY_BACKEND_TEST(View, WritesItsWindowAlone) {
    Buffer<int> base = as_buffer(numbers(8));
    base.view(2, 3).write({-1, -2, -3});
    base.view(6, 1).fill(-9);
    EXPECT_EQ(base.read(0), (std::vector<int>{0, 1, -1, -2, -3, 5, -9, 7}));
    EXPECT_EQ(base.read(1), (std::vector<int>{0, 1, -1, -2, -3, 5, -9, 7}));
}

VOLLEY_BACKEND_TEST(View, ReinterpretsItsBytes) {
    const Buffer<float> floats = as_buffer({1.0f, 2.0f, 3.0f, 4.0f});
    EXPECT_EQ(floats.view_as<std::uint32_t>().read(0),
              (std::vector<std::uint32_t>{0x3f800000, 0x40000000, 0x40400000, 0x40800000}));
    const Buffer<std::complex<float>> pairs = floats.view_as<std::complex<float>>();
    EXPECT_EQ(pairs.read(0), (std::vector<std::complex<float>>{{1, 2}, {3, 4}}));
    EXPECT_EQ(pairs.view_as<float>().read(0), floats.read(0));
    const Buffer<std::uint8_t> bytes(floats.view_as<std::uint8_t>().view(4, 4));
    EXPECT_EQ(bytes.read(0), (std::vector<std::uint8_t>{0, 0, 0, 0x40}));
    const Buffer<float> matrix = floats.reshape({2, 2});
    EXPECT_EQ(matrix.view_as<std::uint16_t>().shape(), Shape({2, 4}));
}

VOLLEY_BACKEND_TEST(View, ThatIsMisalignedIsAnError) {
    const Buffer<std::uint8_t> bytes(64);
    error_of(ErrorCode::InvalidView, [&] { static_cast<void>(bytes.view(2, 8).view_as<float>()); });
    error_of(ErrorCode::InvalidView, [&] { static_cast<void>(bytes.view(0, 7).view_as<float>()); });
    error_of(ErrorCode::TypeMismatch, [&] { static_cast<void>(Buffer<float>(AnyBuffer(bytes))); });
}

VOLLEY_BACKEND_TEST(View, BindsToAKernelAtAnyOffset) {
    const auto twice = make_twice();
    for (const std::size_t offset : {0u, 1u, 3u, 16u, 63u, 100u}) {
        const Buffer<int> base = as_buffer(numbers(256));
        twice(base.view(offset, 77));
        std::vector<int> expected = numbers(256);
        for (std::size_t i = 0; i < 77; ++i) expected[offset + i] *= 2;
        EXPECT_EQ(base.read(0), expected) << "offset " << offset;
        EXPECT_EQ(base.read(1), expected) << "offset " << offset;
    }
}

VOLLEY_BACKEND_TEST(View, SelectsASubArray) {
    const Buffer<int> base = as_buffer(numbers(24), {4, 6});
    const Buffer<int> part = base.sub({slice(1, 4, 2), slice(2, 5)});
    EXPECT_EQ(part.shape(), Shape({2, 3}));
    EXPECT_EQ(part.strides().to_string(), "(48, 4)");
    EXPECT_FALSE(part.is_contiguous());
    EXPECT_EQ(part.read(0), (std::vector<int>{8, 9, 10, 20, 21, 22}));
    EXPECT_EQ(base.sub({2}).read(0), (std::vector<int>{12, 13, 14, 15, 16, 17}));
    EXPECT_EQ(base.sub({all, -1}).read(1), (std::vector<int>{5, 11, 17, 23}));
    error_of(ErrorCode::InvalidView, [&] { static_cast<void>(part.reshape({6})); });
    error_of(ErrorCode::SizeMismatch, [&] { static_cast<void>(base.reshape({5, 5})); });
    error_of(ErrorCode::IndexError, [&] { static_cast<void>(base.sub({4})); });
}

VOLLEY_BACKEND_TEST(View, WithGapsBindsToAKernelThatKnowsItsStrides) {
    const auto negate = kernel("negate", [](Buff<int> data, Const<unsigned> stride) {
        auto i = global_id().y * stride + global_id().x;
        data[i] = -data[i];
    });
    const Buffer<int> base = as_buffer(numbers(24), {4, 6});
    const Buffer<int> part = base.sub({slice(1, 3), slice(2, 5)});
    expect_contains(error_of(ErrorCode::InvalidLaunch, [&] { negate(part, 6u); }), ".over(");
    negate.over({3, 2})(part, 6u);
    EXPECT_EQ(read_region(base, {1}, 0), (std::vector<int>{6, 7, -8, -9, -10, 11}));
    EXPECT_EQ(read_region(base, {2}, 1), (std::vector<int>{12, 13, -14, -15, -16, 17}));
}

VOLLEY_BACKEND_TEST(View, AfterDestroyIsAnErrorThatNamesTheBuffer) {
    Buffer<int> base = Buffer<int>(16, {.name = "gone"});
    base.fill(1);
    const Buffer<int> view = base.view(0, 4);
    base.destroy();
    base.destroy();
    error_of(ErrorCode::InvalidArgument, [&] { static_cast<void>(view.read(0)); });
    error_of(ErrorCode::InvalidArgument, [&] { base.fill(2); });
    expect_contains(error_of(ErrorCode::InvalidArgument, [&] { base.write(numbers(16)); }), "'gone'");
}

}  // namespace
}  // namespace volley
