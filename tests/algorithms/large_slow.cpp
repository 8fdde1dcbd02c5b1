// Algorithms on ten million elements and on random shapes, which take longer than the fast tests may.
#include "support/device_fixture.hpp"
#include "support/random.hpp"
#include "support/reduce_model.hpp"

#include <volley/algorithms/algorithms.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace volley {
namespace {

constexpr std::size_t ten_million = 10'000'000;

/// A context of the CPU with two queues.
class LargeArrays : public ::testing::Test {
protected:
    Context context = make_context({.devices = {"cpu:0"}});
    ContextScope scope = context.use();
};

std::vector<u32> random_words(std::size_t count, std::uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::vector<u32> values(count);
    for (u32& value : values) value = static_cast<u32>(random());
    return values;
}

TEST_F(LargeArrays, AreReduced) {
    const std::vector<u32> values = random_words(ten_million, 1);
    const Buffer<u32> x = as_buffer(values);
    EXPECT_EQ(reduce::sum(x).item(), std::accumulate(values.begin(), values.end(), std::uint64_t{0}));
    EXPECT_EQ(reduce::max(x).item(), *std::max_element(values.begin(), values.end()));
    EXPECT_EQ(reduce::argmin(x).item(),
              static_cast<u32>(std::min_element(values.begin(), values.end()) - values.begin()));
    const Buffer<float> floats = cast<float>(lazy(x));
    double exact = 0, magnitude = 0;
    for (const u32 value : values) {
        exact += static_cast<double>(static_cast<float>(value));
        magnitude += static_cast<double>(static_cast<float>(value));
    }
    // The bound that reduce.hpp states, for ceil(log2(n)) > 6.
    EXPECT_LE(std::abs(static_cast<double>(reduce::sum(floats).item()) - exact), 8 * 0x1p-24 * magnitude);
}

TEST_F(LargeArrays, AreScanned) {
    const std::vector<u32> values = random_words(ten_million, 2);
    std::vector<u32> expected(values.size());
    std::partial_sum(values.begin(), values.end(), expected.begin());
    EXPECT_EQ(scan::inclusive_sum(as_buffer(values)).read(0), expected);
    const std::vector<u32> reversed = scan::inclusive([](Value<u32> a, Value<u32> b) { return max(a, b); },
                                                      as_buffer(values), {.reverse = true})
                                          .read(0);
    std::vector<u32> most = values;
    for (std::size_t i = most.size() - 1; i-- > 0;) most[i] = std::max(most[i], most[i + 1]);
    EXPECT_EQ(reversed, most);
}

TEST_F(LargeArrays, AreSorted) {
    std::vector<u32> values = random_words(ten_million, 3);
    const Buffer<u32> x = as_buffer(values);
    const std::vector<u32> order = argsort(x).read(0);
    const std::vector<u32> by_digits = sort(x).read(0);
    const std::vector<u32> by_comparison = sort(x, [](Value<u32> a, Value<u32> b) { return a < b; }).read(0);
    for (std::size_t i = 0; i < order.size(); ++i) {
        ASSERT_EQ(values[order[i]], by_digits[i]) << i;
        ASSERT_TRUE(i == 0 || by_digits[i - 1] < by_digits[i] ||
                    (by_digits[i - 1] == by_digits[i] && order[i - 1] < order[i]))
            << i;
    }
    EXPECT_EQ(by_comparison, by_digits);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(by_digits, values);
}

TEST_F(LargeArrays, AreTransposedTwiceToThemselves) {
    const std::vector<u32> values = random_words(ten_million, 4);
    const Buffer<u32> x = as_buffer(values, Shape{2500, 4000});
    const Buffer<u32> columns = transpose(x);
    const std::vector<u32> moved = columns.read(0);
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2499}, ten_million - 1})
        EXPECT_EQ(moved[i], values[i % 2500 * 4000 + i / 2500]);
    const Buffer<u32> back = transpose(columns);
    EXPECT_EQ(back.read(0), values);
}

Shape random_shape(testing::Random& random, std::int64_t most_elements) {
    std::vector<std::int64_t> extents;
    const auto rank = static_cast<int>(random.between(1, 5));
    std::int64_t elements = 1;
    for (int k = 0; k < rank; ++k) {
        const std::int64_t room = std::max<std::int64_t>(most_elements / elements, 1);
        const std::int64_t most = random.chance(30) ? room : std::min<std::int64_t>(room, 40);
        extents.push_back(random.between(1, most));
        elements *= extents.back();
    }
    return Shape(std::span<const std::int64_t>(extents));
}

VOLLEY_DEVICE_TEST(RandomShapes, AreReducedScannedSortedAndTransposed) {
    const std::uint64_t seed = testing::seed_or(20);
    SCOPED_TRACE(seed);
    testing::Random random(seed);
    for (int round = 0; round < 15; ++round) {
        const Shape shape = random_shape(random, 6000);
        const auto count = static_cast<std::size_t>(shape.elements());
        std::vector<i32> values(count);
        for (i32& value : values) value = static_cast<i32>(random.between(-1000, 1000));
        const Buffer<i32> x = as_buffer(values, shape);
        SCOPED_TRACE(shape.to_string());
        const auto axis = static_cast<int>(random.between(0, shape.rank() - 1));
        std::vector<int> axes;
        for (int k = 0; k < shape.rank(); ++k) {
            if (k == axis || random.chance(40)) axes.push_back(k);
        }
        EXPECT_EQ(
            reduce::sum(x, {.axes = axes}).read(0),
            testing::host_reduce<i64>(values, shape, axes, 0, [](i64 sum, i32 v, u32) { return sum + v; }));
        // The last element of each line of a scan is the line's reduction.
        std::vector<Selector> last(static_cast<std::size_t>(shape.rank()), Selector(slice(none, none)));
        last[static_cast<std::size_t>(axis)] = shape[axis] - 1;
        const Buffer<i32> scanned = scan::inclusive_sum(x, {.axis = axis});
        const std::vector<i64> totals = reduce::sum(x, {.axes = {axis}}).read(0);
        const std::vector<i32> ends = scanned.sub(Selection(std::span<const Selector>(last))).read(0);
        for (std::size_t i = 0; i < ends.size(); ++i) ASSERT_EQ(ends[i], totals[i]) << i;
        // Sorting is a stable permutation: by digits and by a comparison it is the same one.
        const Buffer<u32> order = argsort(x, {.axis = axis});
        EXPECT_EQ(order.read(0),
                  argsort(x, [](Value<i32> a, Value<i32> b) { return a < b; }, {.axis = axis}).read(0));
        const Buffer<i32> sorted = sort(x, {.axis = axis});
        EXPECT_EQ(reduce::sum(sorted, {.axes = {axis}}).read(0), totals);
        if (shape[axis] > 1) {
            const Buffer<i32> steps = diff(sorted, {.axis = axis});
            EXPECT_GE(reduce::min(steps).item(), 0);
        }
        std::vector<int> permutation(static_cast<std::size_t>(shape.rank()));
        std::iota(permutation.begin(), permutation.end(), 0);
        std::vector<int> inverse(permutation.size());
        for (std::size_t k = permutation.size(); k-- > 1;)
            std::swap(permutation[k], permutation[static_cast<std::size_t>(random.below(k + 1))]);
        for (std::size_t k = 0; k < permutation.size(); ++k)
            inverse[static_cast<std::size_t>(permutation[k])] = static_cast<int>(k);
        const Buffer<i32> there = transpose(x, permutation);
        const Buffer<i32> back = transpose(there, inverse);
        EXPECT_EQ(back.read(0), values);
    }
}

}  // namespace
}  // namespace volley
