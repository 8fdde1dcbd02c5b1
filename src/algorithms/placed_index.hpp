// An index that was loaded from an array, while a kernel is traced: counted from the end if it is negative,
// and brought into the range of its axis.
#pragma once

#include <volley/algorithms/any_source.hpp>
#include <volley/algorithms/gather.hpp>

#include <optional>
#include <string_view>

namespace volley::algorithms {

struct PlacedIndex {
    Value<u32> index;
    std::optional<Value<bool>> inside;  ///< set for OutOfRange::Skip: the index is only valid if this is true
};

/// Records the operations. The extent is not zero, except for OutOfRange::Skip.
[[nodiscard]] PlacedIndex place_index(const AnyValue& given, const Value<u32>& extent, OutOfRange policy);

/// Throws ArgumentError unless the elements are integers, and, for other policies than Skip, if the axis has
/// no elements but there are indices.
void check_indices(const AnySource& indices, std::int64_t extent, OutOfRange policy,
                   std::string_view algorithm);

/// Returns a shape in which the axes of `indices` replace an axis.
[[nodiscard]] Shape shape_of_indexed(const Shape& shape, int axis, const Shape& indices);

}  // namespace volley::algorithms
