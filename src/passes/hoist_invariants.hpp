// Moves what does not change out of loops.
//
// Needs: a verified function. Leaves: pure operations directly in a loop's body whose operands come from
// outside of the loop, and loads of variables that the loop does not store to, stand before the loop. That is
// safe even if the loop never runs: pure operations are defined for all operands. Loads of buffers and shared
// memory stay, as their index may be out of bounds until the loop's condition has been tested. Nothing leaves
// a loop that holds a barrier: it would live across it.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void hoist_invariants(ir::Function& fn);

}  // namespace volley::passes
