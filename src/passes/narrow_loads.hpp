// Loads of composites of which only parts are used become loads of those parts.
//
// Needs: a verified function after fold_constants (which merges chains of extracts). Leaves: a struct, array
// or matrix that is only taken apart by constant paths is loaded part by part where some part is unused. A
// vector or complex number is loaded whole unless just one component is used: one wide load that is
// de-interleaved in registers costs less than strided loads of its components. Parts are loaded where the
// whole was, in its order.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void narrow_loads(ir::Function& fn);

}  // namespace volley::passes
