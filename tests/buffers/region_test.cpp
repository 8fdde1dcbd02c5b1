// Regions: transfers between host and device, within a device and between devices, against a host model.
#include "buffers/buffer_support.hpp"

namespace volley {
namespace {

using testing::error_of;
using testing::expect_contains;
using testing::numbers;

VOLLEY_BACKEND_TEST(Region, CopiesSlicesOfEveryKind) {
    Buffer<int> to({4, 3, 10});
    to.zero();
    const Buffer<int> from = as_buffer(numbers(6 * 3 * 8), {6, 3, 8});
    copy_region(to, {slice(1, 3), all, slice(4, 8, 2)}, from, {slice(2, 4), all, slice(3, 7, 2)});
    const std::vector<int> result = to.read(1);
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 10; ++k) {
                const bool inside = i >= 1 && i < 3 && k >= 4 && k < 8 && k % 2 == 0;
                const int expected = inside ? (i + 1) * 24 + j * 8 + (k - 1) : 0;
                ASSERT_EQ(result[static_cast<std::size_t>((i * 3 + j) * 10 + k)], expected)
                    << i << " " << j << " " << k;
            }
        }
    }
}

VOLLEY_BACKEND_TEST(Region, ReadsAndWritesParts) {
    Buffer<int> buffer({4, 6}, {.padded_shape = {5, 8}});
    buffer.write(numbers(24));
    EXPECT_EQ(read_region(buffer, {slice(1, 3), slice(0, 6, 3)}, 0), (std::vector<int>{6, 9, 12, 15}));
    EXPECT_EQ(read_region(buffer, {-1, slice(none, 2)}, 1), (std::vector<int>{18, 19}));
    write_region(buffer, {2, slice(1, 3)}, std::vector<int>{-1, -2});
    buffer.sub({slice(0, 2), 0}).fill(100);
    zero_region(buffer, {3});
    EXPECT_EQ(buffer.read(0), (std::vector<int>{100, 1,  2,  3,  4,  5,  100, 7, 8, 9, 10, 11,  //
                                                12,  -1, -2, 15, 16, 17, 0,   0, 0, 0, 0,  0}));
    std::vector<int> into(12, 7);
    buffer.sub({slice(0, 2), slice(1, 4)})
        .read_into(ArrayView<int>(into.data(), {2, 6})[{all, slice(0, 3)}], 0);
    EXPECT_EQ(into, (std::vector<int>{1, 2, 3, 7, 7, 7, 7, 8, 9, 7, 7, 7}));
    const HostArray<int> host({2, 3});
    buffer.sub({slice(0, 2), slice(1, 4)}).read_async(host, 1).wait();
    EXPECT_EQ(host(1, 2), 9);
    buffer.sub({slice(2, 4), slice(0, 3)}).write_async(host).wait();
    EXPECT_EQ(read_region(buffer, {slice(2, 4), slice(0, 3)}, 1), (std::vector<int>{1, 2, 3, 7, 8, 9}));
}

VOLLEY_BACKEND_TEST(Region, OfAnotherShapeIsAnError) {
    Buffer<int> to({4, 4}, {.name = "target"});
    const Buffer<int> from = as_buffer(numbers(16), {4, 4});
    expect_contains(
        error_of(ErrorCode::SizeMismatch, [&] { copy_region(to, {slice(0, 2)}, from, {slice(0, 3)}); }),
        "'target'");
    error_of(ErrorCode::SizeMismatch, [&] { copy_region(to, {slice(0, 1)}, from, {0}); });
    EXPECT_FALSE(to.is_allocated(0));
    copy_region(to, {slice(0, 1)}, from, {newaxis, 0});
    EXPECT_EQ(read_region(to, {0}, 0), numbers(4));
    error_of(ErrorCode::IndexError, [&] { zero_region(to, {slice(2, 2)}); });
    error_of(ErrorCode::IndexError, [&] { zero_region(to, {slice(0, 2, 0)}); });
    error_of(ErrorCode::IndexError, [&] { zero_region(to, {0, 0, 0}); });
    error_of(ErrorCode::TypeMismatch, [&] { copy_region(to, {}, Buffer<float>({4, 4}), {}); });
}

VOLLEY_BACKEND_TEST(Region, ThatOverlapsItsSourceIsAnError) {
    Buffer<int> buffer = as_buffer(numbers(36), {6, 6});
    error_of(ErrorCode::InvalidView, [&] { copy_region(buffer, {slice(0, 3)}, buffer, {slice(2, 5)}); });
    error_of(ErrorCode::InvalidView, [&] { buffer.view(0, 4).copy_from(buffer.view(2, 4)); });
    copy_region(buffer, {all, slice(0, 6, 2)}, buffer,
                {all, slice(1, 6, 2)});  // interleaved: no element is shared
    EXPECT_EQ(read_region(buffer, {1}, 0), (std::vector<int>{7, 7, 9, 9, 11, 11}));
    buffer.view(0, 6).copy_from(buffer.view(12, 6));
    EXPECT_EQ(read_region(buffer, {0}, 1), (std::vector<int>{13, 13, 15, 15, 17, 17}));
}

}  // namespace
}  // namespace volley
