// Regions: moved between host and device, inside a device and between devices, against a plain host model.
#include "buffers/buffer_support.hpp"

#include "support/random.hpp"

#include <span>

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
    EXPECT_EQ(buffer.read_region(0, {slice(1, 3), slice(0, 6, 3)}), (std::vector<int>{6, 9, 12, 15}));
    EXPECT_EQ(buffer.read_region(1, {-1, slice(none, 2)}), (std::vector<int>{18, 19}));
    buffer.write_region({2, slice(1, 3)}, std::vector<int>{-1, -2});
    buffer.fill_region({slice(0, 2), 0}, 100);
    buffer.zero_region({3});
    EXPECT_EQ(buffer.read(0), (std::vector<int>{100, 1,  2,  3,  4,  5,  100, 7, 8, 9, 10, 11,  //
                                                12,  -1, -2, 15, 16, 17, 0,   0, 0, 0, 0,  0}));
    std::vector<int> into(12, 7);
    buffer.read_region(0, {slice(0, 2), slice(1, 4)},
                       ArrayView<int>(into.data(), {2, 6})[{all, slice(0, 3)}]);
    EXPECT_EQ(into, (std::vector<int>{1, 2, 3, 7, 7, 7, 7, 8, 9, 7, 7, 7}));
    const HostArray<int> host({2, 3});
    buffer.read_region_async(1, {slice(0, 2), slice(1, 4)}, host).wait();
    EXPECT_EQ(host(1, 2), 9);
    buffer.write_region_async({slice(2, 4), slice(0, 3)}, host).wait();
    EXPECT_EQ(buffer.read_region(1, {slice(2, 4), slice(0, 3)}), (std::vector<int>{1, 2, 3, 7, 8, 9}));
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
    EXPECT_EQ(to.read_region(0, {0}), numbers(4));
    error_of(ErrorCode::IndexError, [&] { to.zero_region({slice(2, 2)}); });
    error_of(ErrorCode::IndexError, [&] { to.zero_region({slice(0, 2, 0)}); });
    error_of(ErrorCode::IndexError, [&] { to.zero_region({0, 0, 0}); });
    error_of(ErrorCode::TypeMismatch, [&] { copy_region(to, {}, Buffer<float>({4, 4}), {}); });
}

VOLLEY_BACKEND_TEST(Region, ThatOverlapsItsSourceIsAnError) {
    Buffer<int> buffer = as_buffer(numbers(36), {6, 6});
    error_of(ErrorCode::InvalidView, [&] { copy_region(buffer, {slice(0, 3)}, buffer, {slice(2, 5)}); });
    error_of(ErrorCode::InvalidView, [&] { buffer.copy_within(0, 2, 4); });
    copy_region(buffer, {all, slice(0, 6, 2)}, buffer,
                {all, slice(1, 6, 2)});  // interleaved: no element is shared
    EXPECT_EQ(buffer.read_region(0, {1}), (std::vector<int>{7, 7, 9, 9, 11, 11}));
    buffer.copy_within(0, 12, 6);
    EXPECT_EQ(buffer.read_region(1, {0}), (std::vector<int>{13, 13, 15, 15, 17, 17}));
}

/// A random array with padding, of which a random part is selected; what is selected has the wanted shape.
struct RandomArray {
    std::vector<Selector> selectors;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> padded;
    // By brute force: positions of the selected elements, in the array's own row-major order.
    std::vector<std::size_t> positions;

    [[nodiscard]] Selection selection() const { return Selection(std::span<const Selector>(selectors)); }
    [[nodiscard]] std::size_t size() const {
        std::size_t count = 1;
        for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
        return count;
    }
    [[nodiscard]] Buffer<int> make(const std::vector<int>& data) const {
        Buffer<int> buffer(Shape(shape), {.padded_shape = Shape(padded)});
        buffer.write(data);
        return buffer;
    }
};

RandomArray random_array(testing::Random& random, const std::vector<std::int64_t>& wanted) {
    RandomArray array;
    std::vector<std::vector<std::int64_t>> picks;  // per axis, the indices that are selected
    const auto add_axis = [&](std::int64_t extent, std::vector<std::int64_t> picked,
                              const Selector& selector) {
        array.shape.push_back(extent);
        array.padded.push_back(extent + static_cast<std::int64_t>(random.below(3)));
        picks.push_back(std::move(picked));
        array.selectors.push_back(selector);
    };
    std::size_t left = wanted.size();
    for (std::size_t d = 0; d < wanted.size(); ++d, --left) {
        if (array.shape.size() + left < 5 && random.below(4) == 0) {
            const auto extent = static_cast<std::int64_t>(1 + random.below(4));
            const auto index = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(extent)));
            add_axis(extent, {index}, random.below(2) == 0 ? index : index - extent);
        }
        const std::int64_t length = wanted[d];
        if (length == 1 && random.below(4) == 0) {
            array.selectors.emplace_back(newaxis);
            continue;
        }
        const auto step = static_cast<std::int64_t>(1 + random.below(3));
        const auto begin = static_cast<std::int64_t>(random.below(3));
        const std::int64_t last = begin + (length - 1) * step;
        const std::int64_t extent = last + 1 + static_cast<std::int64_t>(random.below(3));
        std::vector<std::int64_t> picked;
        for (std::int64_t i = 0; i < length; ++i) picked.push_back(begin + i * step);
        if (begin == 0 && step == 1 && extent == length && random.below(2) == 0) {
            add_axis(extent, std::move(picked), all);
        } else if (last + step >= extent && random.below(2) == 0) {
            add_axis(extent, std::move(picked), slice(begin, none, step));
        } else {
            add_axis(extent, std::move(picked),
                     slice(begin - (random.below(2) == 0 ? extent : 0), last + 1, step));
        }
    }
    if (array.shape.empty()) add_axis(2, {1}, -1);
    array.positions = {0};
    for (std::size_t d = 0; d < array.shape.size(); ++d) {
        std::vector<std::size_t> next;
        for (const std::size_t position : array.positions) {
            for (const std::int64_t i : picks[d])
                next.push_back(position * static_cast<std::size_t>(array.shape[d]) +
                               static_cast<std::size_t>(i));
        }
        array.positions = std::move(next);
    }
    return array;
}

std::vector<std::int64_t> random_shape(testing::Random& random) {
    std::vector<std::int64_t> shape(random.below(5));
    for (std::int64_t& extent : shape) extent = static_cast<std::int64_t>(1 + random.below(5));
    return shape;
}

#ifdef VOLLEY_SANITIZED
constexpr int cases = 60;
#else
constexpr int cases = 400;  // on each backend, three transfers each
#endif

VOLLEY_BACKEND_TEST(Region, RandomOnesAgreeWithAHostModel) {
    for (int i = 0; i < cases; ++i) {
        const std::uint64_t seed = 1000 + static_cast<std::uint64_t>(i);
        SCOPED_TRACE("seed " + std::to_string(seed));
        testing::Random random(seed);
        const std::vector<std::int64_t> shape = random_shape(random);
        const RandomArray a = random_array(random, shape);
        const RandomArray b = random_array(random, shape);
        std::vector<int> from_model = numbers(a.size(), 1);
        std::vector<int> to_model = numbers(b.size(), -1'000'000);
        const Buffer<int> from = a.make(from_model);
        Buffer<int> to = b.make(to_model);
        // Device to device
        copy_region(to, b.selection(), from, a.selection());
        ASSERT_EQ(a.positions.size(), b.positions.size());
        for (std::size_t e = 0; e < a.positions.size(); ++e)
            to_model[b.positions[e]] = from_model[a.positions[e]];
        ASSERT_EQ(to.read(i % 2), to_model);
        // Device to host
        std::vector<int> expected;
        for (const std::size_t position : a.positions) expected.push_back(from_model[position]);
        ASSERT_EQ(from.read_region(static_cast<unsigned>(i) % 2, a.selection()), expected);
        // Host to device, and fills
        if (random.below(2) == 0) {
            for (int& value : expected) value = -value;
            to.write_region(b.selection(), expected);
            for (std::size_t e = 0; e < expected.size(); ++e) to_model[b.positions[e]] = expected[e];
        } else {
            to.fill_region(b.selection(), 77);
            for (const std::size_t position : b.positions) to_model[position] = 77;
        }
        ASSERT_EQ(to.read((i + 1) % 2), to_model);
        if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace volley
