// Kernels that use every operation on one type, or every conversion from it, each result stored where nothing
// can remove it.
#pragma once

#include "ir/function.hpp"

namespace volley::test {

/// Buffers a, b, c of the type, and one for each type of results: element i * n + k is result k of n for the
/// elements i. Without `functions` only operations whose results docs/ir.md fixes to the bit.
[[nodiscard]] ir::Function operations_on(DType type, bool functions = true);
/// From the scalar type to each other, by value and, where sizes allow, by bits.
[[nodiscard]] ir::Function conversions_from(ScalarType type);
/// Atomics in a buffer and in a shared array.
[[nodiscard]] ir::Function atomics_on(ScalarType type);
/// Folds, scans, shuffles and votes.
[[nodiscard]] ir::Function subgroup_operations_on(DType type);
/// Loads and stores the type whole and by each kind of step, in buffers, shared memory, variables and values.
[[nodiscard]] ir::Function accesses_to(DType type);

/// All scalar types.
[[nodiscard]] std::span<const ScalarType> all_scalars();

}  // namespace volley::test
