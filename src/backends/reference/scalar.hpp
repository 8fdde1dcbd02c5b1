// What each operation computes on one scalar, by docs/ir.md alone: written apart from the constant folder and
// from the code generators, so that an error in one of them shows as a difference.
//
// Scalars travel as 64 bits: the value's representation, zero-extended. Every result is in that form again.
#pragma once

#include <volley/dtype.hpp>
#include <volley/ir/op.hpp>

#include <cstdint>

namespace volley::backends::reference {

/// Unused operands are ignored.
using ScalarFn = std::uint64_t (*)(std::uint64_t a, std::uint64_t b, std::uint64_t c);

/// Elementwise operations: arithmetic, bits, comparisons, classification, rounding, functions. Nullptr when
/// the operation does not exist for the type.
[[nodiscard]] ScalarFn scalar_function(ir::Op op, ScalarType type);

/// Conversion by value: truncating and saturating from floats to integers, correctly rounded to floats.
[[nodiscard]] std::uint64_t convert_scalar(ScalarType from, ScalarType to, std::uint64_t bits);

/// The element that changes nothing: 0 for add, or, xor; 1 for mul; the highest for min, the lowest for max;
/// all ones for and. Infinities for floats' min and max.
[[nodiscard]] std::uint64_t identity_of(ir::Op fold, ScalarType type);

/// A signed type's value sign-extended, any other's zero-extended.
[[nodiscard]] std::int64_t as_int64(ScalarType type, std::uint64_t bits);

}  // namespace volley::backends::reference
