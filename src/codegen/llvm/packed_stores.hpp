// Finds stores by which the lanes that take an `$if` write consecutive elements, such as
//
//     const auto at = begin + subgroup_exclusive_add(select(taken, 1u, 0u));
//     $if (taken) { data[at] = x; }
//
// Such a store is one compressed vector instead of a scatter.
#pragma once

#include "ir/function.hpp"

#include <unordered_map>
#include <vector>

namespace volley::codegen::llvm {

/// Maps each store to the SubgroupExclusiveAdd in its index: the number of lower lanes that store, too. The
/// other terms of the index are sums, and may differ between lanes. `kills` is that of the ControlPlan.
[[nodiscard]] std::unordered_map<ir::NodeId, ir::NodeId> find_packed_stores(const ir::Function& fn,
                                                                            const std::vector<bool>& kills);

/// Returns the terms of a sum other than one of them.
[[nodiscard]] std::vector<ir::NodeId> other_terms(const ir::Function& fn, ir::NodeId sum, ir::NodeId term);

}  // namespace volley::codegen::llvm
