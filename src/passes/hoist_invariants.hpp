// Moves loop-invariant nodes out of loops.
//
// Requires: a verified function. Ensures: pure operations directly in the body of a loop whose operands are
// defined outside the loop, and loads of variables that the loop does not store to, are placed before the
// loop. This is safe even if the loop never runs, because pure operations are defined for all operands. Loads
// of buffers and shared memory stay, because their index may be out of bounds until the condition of the loop
// has been tested. Nothing is moved out of a loop that contains a barrier, because the value would be live
// across it.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void hoist_invariants(ir::Function& fn);

}  // namespace volley::passes
