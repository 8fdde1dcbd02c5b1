// Replaces loads of composites of which only parts are used by loads of those parts.
//
// Requires: a verified function after fold_constants (which merges chains of extracts). Ensures: a struct,
// array or matrix that is only extracted from by constant paths is loaded part by part if some part is
// unused. A vector or complex number is loaded whole unless only one component is used: one wide load that is
// de-interleaved in registers costs less than strided loads of its components. The loads of the parts replace
// the load of the whole, in the order of the parts.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void narrow_loads(ir::Function& fn);

}  // namespace volley::passes
