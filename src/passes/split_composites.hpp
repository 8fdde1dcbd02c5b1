// Splits arithmetic on complex numbers, and on vectors of which only components are used, into arithmetic on
// their parts.
//
// Requires: a verified function. Ensures: no elementwise operation on complex numbers, and none on a vector
// whose uses are all extracts by constants (or operations that are split themselves). Each becomes one
// operation per part and a construct. fold_constants and eliminate_dead then remove redundant constructs and
// unused parts; contract_fma can then contract the products in complex additions.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void split_composites(ir::Function& fn);

}  // namespace volley::passes
