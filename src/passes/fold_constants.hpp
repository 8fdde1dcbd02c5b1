// Constant folding and exact simplification.
//
// Needs: a verified function. Leaves: a verified function in which no pure scalar or vector operation has
// only constant operands (but for functions whose result is not fixed to the bit), no If has a constant
// condition, no For a constant trip count of 0 or 1 without jumps, and nothing follows a jump. With
// Function::local_size set, LocalSize is constant, and ids along dimensions of size 1 are what they must be.
//
// Every rewrite gives the same bits for every input, NaN payloads aside (docs/ir.md leaves those to the
// device).
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void fold_constants(ir::Function& fn);

}  // namespace volley::passes
