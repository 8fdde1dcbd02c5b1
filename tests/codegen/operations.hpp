// Kernels that use every operation on one type, or every conversion from it. All results are stored, so none
// can be eliminated.
#pragma once

#include "ir/function.hpp"

namespace volley::test {

/// Has buffers a, b, c of the type, and one for each result type: element i * n + k is result k of n for the
/// elements i. Without `functions`, uses only operations whose results docs/ir.md defines bit by bit.
[[nodiscard]] ir::Function operations_on(DType type, bool functions = true);
/// Converts the scalar type to each other type, by value and, if sizes match, by bits.
[[nodiscard]] ir::Function conversions_from(ScalarType type);
/// Atomics in a buffer and in a shared array.
[[nodiscard]] ir::Function atomics_on(ScalarType type);
/// Folds, scans, shuffles and votes.
[[nodiscard]] ir::Function subgroup_operations_on(DType type);
/// Loads and stores the type as a whole and through each kind of step, in buffers, shared memory, variables
/// and values.
[[nodiscard]] ir::Function accesses_to(DType type);

/// All scalar types.
[[nodiscard]] std::span<const ScalarType> all_scalars();

}  // namespace volley::test
