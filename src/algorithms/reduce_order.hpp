// Integer keys that order elements as min and max do: the comparison of floats on devices differs for NaN, -0
// and subnormals, that of integers does not.
#pragma once

#include <volley/lang/any_value.hpp>

namespace volley::algorithms {

/// Returns the type of the keys: 32 or 64 bits.
[[nodiscard]] DType order_type(DType element);
/// Returns the key of an element. Keys of floats ascend from -inf over -0 and 0 to inf; those of NaN are
/// above all others for the search of the largest, below for that of the smallest. `one_nan` gives all NaN
/// one key.
[[nodiscard]] AnyValue order_key(const AnyValue& element, bool largest, bool one_nan = false);
/// Returns the element of a key that was made without `one_nan`.
[[nodiscard]] AnyValue from_order_key(const AnyValue& key, DType element, bool largest);
/// Returns the key that loses against, or equals, every other.
[[nodiscard]] AnyValue last_in_order(DType element, bool largest);

}  // namespace volley::algorithms
