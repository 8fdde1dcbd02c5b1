// Random arrays and selections, and an enumerating model of them: it lists the location of each element and
// drops those that a selection excludes.
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

/// An array as the list of its elements' locations in memory, in row-major order.
struct ArrayModel {
    Shape shape;
    std::vector<std::int64_t> places;
};

/// Locations are numbered through the padded array.
[[nodiscard]] ArrayModel model_of(const Shape& shape, const Shape& padded);

/// The selected part, or the expected error.
struct Selected {
    std::optional<ErrorCode> refusal;
    ArrayModel part;
};
[[nodiscard]] Selected select(const ArrayModel& array, const Selection& selection);

/// Returns a shape of up to `max` axes, mostly small; a few shapes have an empty axis.
[[nodiscard]] Shape random_shape(Random& random, int max);
[[nodiscard]] Shape random_padding(Random& random, const Shape& shape);
/// Returns a selection of any kind, valid or not.
[[nodiscard]] Selection random_selection(Random& random, const Shape& shape);

/// Returns non-empty slices of all axes; a few entries are integers. Most steps are `steps`, so that parts of
/// one array often interleave.
[[nodiscard]] Selection random_cut(Random& random, const Shape& shape,
                                   const std::vector<std::int64_t>& steps);

/// Returns an array and a selection of it that has the given shape.
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
    const bool one = seed_or(0) == seed_or(1);  // VOLLEY_SEED is set
    const std::uint64_t first = seed_or(1);
    for (std::uint64_t seed = first; seed < first + static_cast<std::uint64_t>(one ? 1 : count); ++seed) {
        SCOPED_TRACE("VOLLEY_SEED=" + std::to_string(seed));
        Random random(seed);
        f(random);
        if (::testing::Test::HasFailure()) return;  // stop at the first failing seed
    }
}

}  // namespace volley::testing
