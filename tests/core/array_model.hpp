// Random arrays and selections, and a model of them that only enumerates: it lists where each element lies
// and drops those that a selection leaves out.
#pragma once

#include "support/random.hpp"

#include <volley/error.hpp>
#include <volley/shape.hpp>
#include <volley/slice.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace volley::testing {

/// An array by its elements: the number of each one's place in memory, in row-major order.
struct ArrayModel {
    Shape shape;
    std::vector<std::int64_t> places;
};

/// Places are counted through the padded array.
[[nodiscard]] ArrayModel model_of(const Shape& shape, const Shape& padded);

/// The selected part, or the error that has to come instead.
struct Selected {
    std::optional<ErrorCode> refusal;
    ArrayModel part;
};
[[nodiscard]] Selected select(const ArrayModel& array, const Selection& selection);

/// Up to `max` axes, mostly small; an axis in a few arrays is empty.
[[nodiscard]] Shape random_shape(Random& random, int max);
[[nodiscard]] Shape random_padding(Random& random, const Shape& shape);
/// Of any kind, legal or not.
[[nodiscard]] Selection random_selection(Random& random, const Shape& shape);

/// Slices of all axes, of which none is empty; a few are integers. Steps are `steps` in most places, so that
/// the cuts of one array often lie in each other's gaps.
[[nodiscard]] Selection random_cut(Random& random, const Shape& shape,
                                   const std::vector<std::int64_t>& steps);

/// An array and a selection of it that has the given shape.
struct Region {
    Shape shape;
    Shape padded;
    Selection selection;

    [[nodiscard]] std::string to_string() const;
};
[[nodiscard]] Region random_region(Random& random, const Shape& part);

/// Runs f(random, seed) for many seeds, or for the one that VOLLEY_SEED names. Failures name the seed.
template <class F>
void for_each_seed(int count, F&& f) {
    const bool one = seed_or(0) == seed_or(1);  // it is set
    const std::uint64_t first = seed_or(1);
    for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(one ? 1 : count); ++seed) {
        SCOPED_TRACE("VOLLEY_SEED=" + std::to_string(seed));
        Random random(seed);
        f(random);
        if (::testing::Test::HasFailure()) return;  // one seed is enough to read
    }
}

}  // namespace volley::testing
