// Scalar semantics of each operation, implemented from docs/ir.md independently of the constant folder and
// the code generators, so that an error in one of them shows up as a difference.
//
// A scalar is represented as 64 bits: the bits of its value, zero-extended. Results have the same form.
#pragma once

#include <volley/dtype.hpp>
#include <volley/ir/op.hpp>

#include <cstdint>

namespace volley::backends::reference {

/// Unused operands are ignored.
using ScalarFn = std::uint64_t (*)(std::uint64_t a, std::uint64_t b, std::uint64_t c);

/// Returns the implementation of an elementwise operation: arithmetic, bits, comparisons, classification,
/// rounding, functions. Returns nullptr if the operation does not exist for the type.
[[nodiscard]] ScalarFn scalar_function(ir::Op op, ScalarType type);

/// Converts a value: floats to integers truncating and saturating, to floats correctly rounded.
[[nodiscard]] std::uint64_t convert_scalar(ScalarType from, ScalarType to, std::uint64_t bits);

/// Returns the identity element: 0 for add, or, xor; 1 for mul; the highest value for min, the lowest for max
/// (infinities for floats); all ones for and.
[[nodiscard]] std::uint64_t identity_of(ir::Op fold, ScalarType type);

/// Returns the value as 64 bits, sign-extended for signed types and zero-extended for others.
[[nodiscard]] std::int64_t as_int64(ScalarType type, std::uint64_t bits);

}  // namespace volley::backends::reference
