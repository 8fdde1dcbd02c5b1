// Flattens conditions that are nested deeper than a device supports: the contents of such an If are moved
// after it, in Ifs of their own. Their conditions, and values that now cross from one branch to another, are
// stored in variables.
//
// Requires: a verified function. Ensures: an equivalent function (docs/ir.md) in which no If is nested in
// more than `limit` others. A function within the limit is unchanged.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

/// Returns the maximum nesting depth of Ifs.
[[nodiscard]] unsigned nesting(const ir::Function& fn);

/// Requires limit >= 1.
void lower_nesting(ir::Function& fn, unsigned limit);

}  // namespace volley::passes
