// Compares thousands of random arrays and selections with a model that enumerates every element.
#include "core/array_model.hpp"
#include "core/layout.hpp"
#include "core/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace volley {
namespace {

using testing::ArrayModel;
using testing::Random;
using testing::Region;
using testing::Selected;

#if defined(VOLLEY_SANITIZED)
constexpr int cases = 1000;
#else
constexpr int cases = 5000;
#endif

// Returns the first byte of each element in row-major order, computed from offset and strides.
std::vector<std::int64_t> places(const Layout& layout) {
    std::vector<std::int64_t> list;
    for (std::int64_t n = 0; n < layout.shape.elements(); ++n)
        list.push_back(layout.offset + strided_offset(unravel_index(n, layout.shape), layout.strides));
    return list;
}

std::vector<std::int64_t> scaled(std::vector<std::int64_t> places, std::int64_t element) {
    for (std::int64_t& place : places) place *= element;
    return places;
}

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

// Returns the destination and the source of every byte of a transfer.
Pairs byte_pairs(const std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from,
                 std::int64_t element) {
    Pairs pairs;
    for (std::size_t n = 0; n < to.size(); ++n) {
        for (std::int64_t byte = 0; byte < element; ++byte) pairs.emplace_back(to[n] + byte, from[n] + byte);
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

Pairs byte_pairs(const Rows& rows) {
    Pairs pairs;
    for (std::int64_t n = 0; n < rows.rows(); ++n) {
        std::int64_t to = rows.to_offset;
        std::int64_t from = rows.from_offset;
        std::int64_t rest = n;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rows.rank); ++axis) {
            to += rest % rows.count[axis] * rows.to_stride[axis];
            from += rest % rows.count[axis] * rows.from_stride[axis];
            rest /= rows.count[axis];
        }
        for (std::int64_t byte = 0; byte < rows.row; ++byte) pairs.emplace_back(to + byte, from + byte);
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

void expect_collapsed(const Rows& rows, std::int64_t element) {
    EXPECT_LE(rows.rank, max_rank);
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(rows.rank); ++axis) {
        EXPECT_GE(rows.count[axis], 2);
        const std::int64_t to = axis == 0 ? rows.row : rows.count[axis - 1] * rows.to_stride[axis - 1];
        const std::int64_t from = axis == 0 ? rows.row : rows.count[axis - 1] * rows.from_stride[axis - 1];
        EXPECT_FALSE(rows.to_stride[axis] == to && rows.from_stride[axis] == from) << "axis " << axis;
    }
    EXPECT_EQ(rows.row % element, 0);
}

TEST(LayoutRandom, SelectingAgreesWithTheModel) {
    int refused = 0;
    testing::for_each_seed(cases, [&](Random& random) {
        const Shape shape = random_shape(random, 5);
        const Shape padded = random_padding(random, shape);
        const std::int64_t element = random.pick<std::int64_t>({1, 2, 4, 8, 12});
        Layout layout = row_major(shape, padded, element);
        ArrayModel model = testing::model_of(shape, padded);
        ASSERT_EQ(places(layout), scaled(model.places, element));
        for (int depth = 0; depth < 2; ++depth) {  // also parts of parts
            const Selection selection = random_selection(random, model.shape);
            SCOPED_TRACE(selection.to_string() + " of " + model.shape.to_string() + " in " +
                         padded.to_string());
            const Selected expected = testing::select(model, selection);
            if (expected.refusal) {
                ++refused;
                try {
                    (void)select(layout, selection, "x");
                    ADD_FAILURE() << "nothing was thrown";
                } catch (const ArgumentError& error) {
                    EXPECT_EQ(error.code(), *expected.refusal) << error.what();
                }
                return;
            }
            layout = select(layout, selection, "x");
            model = expected.part;
            ASSERT_EQ(layout.shape, model.shape);
            ASSERT_EQ(places(layout), scaled(model.places, element));
            const auto& list = model.places;
            EXPECT_EQ(bytes_of(layout, element), static_cast<std::int64_t>(list.size()) * element);
            EXPECT_EQ(extent(layout, element), list.empty() ? 0 : (list.back() - list.front() + 1) * element);
            EXPECT_EQ(is_dense(layout, element), list.empty() || list.back() - list.front() + 1 ==
                                                                     static_cast<std::int64_t>(list.size()));
        }
    });
    if (testing::seed_or(0) != testing::seed_or(1)) {  // no fixed seed: both kinds must occur
        EXPECT_GT(refused, cases / 20);
        EXPECT_LT(refused, cases / 2);
    }
}

TEST(LayoutRandom, CollapsingMovesTheSameBytes) {
    testing::for_each_seed(cases, [&](Random& random) {
        const Shape shape = random_shape(random, 4);
        const Region to_region = random_region(random, shape);
        const Region from_region = random_region(random, shape);
        SCOPED_TRACE("to " + to_region.to_string() + ", from " + from_region.to_string());
        const std::int64_t element = random.pick<std::int64_t>({1, 2, 4, 12});
        const auto layout_of = [&](const Region& region) {
            return select(row_major(region.shape, region.padded, element), region.selection, "x");
        };
        const auto model_of = [&](const Region& region) {
            return scaled(
                testing::select(testing::model_of(region.shape, region.padded), region.selection).part.places,
                element);
        };
        const Rows rows = collapse(layout_of(to_region), layout_of(from_region), element);
        EXPECT_EQ(byte_pairs(rows), byte_pairs(model_of(to_region), model_of(from_region), element));
        EXPECT_EQ(rows.bytes(), shape.bytes(element));
        expect_collapsed(rows, element);
        const Rows alone = collapse(layout_of(to_region), element);
        EXPECT_EQ(byte_pairs(alone), byte_pairs(model_of(to_region), model_of(to_region), element));
        EXPECT_LE(alone.rows(), rows.rows());
    });
}

// Strides descend.
std::vector<std::int64_t> bytes(const Layout& layout, std::int64_t element) {
    std::vector<std::int64_t> list;
    for (const std::int64_t place : places(layout)) {
        for (std::int64_t byte = 0; byte < element; ++byte) list.push_back(place + byte);
    }
    return list;
}

// Counts the pairs that overlap and those that do not, to check that both kinds occur.
struct Tally {
    int overlapping = 0;
    int apart = 0;

    void expect_both(int least) const {
        if (testing::seed_or(0) == testing::seed_or(1)) return;
        EXPECT_GT(overlapping, least);
        EXPECT_GT(apart, least);
    }
};

void expect_overlap(const Layout& a, const Layout& b, std::int64_t element, Tally& tally) {
    const std::vector<std::int64_t> a_bytes = bytes(a, element);
    const std::vector<std::int64_t> b_bytes = bytes(b, element);
    std::vector<std::int64_t> both;
    std::set_intersection(a_bytes.begin(), a_bytes.end(), b_bytes.begin(), b_bytes.end(),
                          std::back_inserter(both));
    const auto text = [](const Layout& layout) {
        return cat("at ", layout.offset, ", ", layout.shape.to_string(), " by ", layout.strides.to_string());
    };
    SCOPED_TRACE(cat("a ", text(a), "; b ", text(b), "; element ", element));
    EXPECT_EQ(overlap(a, b, element), !both.empty());
    EXPECT_EQ(overlap(b, a, element), !both.empty());
    (both.empty() ? tally.apart : tally.overlapping) += 1;
}

TEST(LayoutRandom, OverlapOfPartsOfOneArrayAgreesWithSetsOfBytes) {
    Tally tally;
    testing::for_each_seed(cases * 2, [&](Random& random) {
        std::vector<std::int64_t> extents;
        std::vector<std::int64_t> steps;
        for (std::int64_t rank = random.between(1, 4); rank > 0; --rank) {
            extents.push_back(random.between(1, 6));
            steps.push_back(random.chance(60) ? 1 : random.between(2, 3));
        }
        const Shape shape{std::span<const std::int64_t>(extents)};
        const std::int64_t element = random.pick<std::int64_t>({1, 4});
        const Layout whole = row_major(shape, random_padding(random, shape), element);
        expect_overlap(select(whole, random_cut(random, shape, steps), "a"),
                       select(whole, random_cut(random, shape, steps), "b"), element, tally);
    });
    tally.expect_both(cases / 2);
}

TEST(LayoutRandom, OverlapOfViewsOfOneStorageAgreesWithSetsOfBytes) {
    Tally tally;
    testing::for_each_seed(cases, [&](Random& random) {
        const std::int64_t element = random.pick<std::int64_t>({1, 2, 4, 12});
        const auto random_part = [&](std::int64_t offset) {
            const Region region = random_region(random, random_shape(random, 4));
            Layout layout = row_major(region.shape, region.padded, element);
            layout.offset = offset;
            return select(layout, region.selection, "x");
        };
        const Layout a = random_part(0);
        expect_overlap(a, random_part(random.between(0, random.chance(50) ? 4 : 60)), element, tally);
    });
    tally.expect_both(cases / 5);
}

}  // namespace
}  // namespace volley
