// Arithmetic on complex numbers, and on vectors that are only taken apart again, becomes arithmetic on their
// parts.
//
// Needs: a verified function. Leaves: no elementwise operation on complex numbers, and none on a vector all
// of whose uses are extracts by constants (or operations that are split themselves). Each is one operation a
// part, and a construct in its place. fold_constants and eliminate_dead then remove the detours and the parts
// that nobody uses; contract_fma sees products through complex additions.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void split_composites(ir::Function& fn);

}  // namespace volley::passes
