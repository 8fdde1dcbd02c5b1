// Folds constants and applies exact simplifications.
//
// Requires: a verified function. Ensures: a verified function in which no pure scalar or vector operation has
// only constant operands (except functions whose result is not defined to the bit), no If has a constant
// condition, no For without jumps has a constant trip count of 0 or 1, and nothing follows a jump. If
// Function::local_size is set, LocalSize is constant and ids are simplified along dimensions of size 1.
//
// Every rewrite preserves all bits of the result for every input, except NaN payloads (which docs/ir.md
// leaves to the device).
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void fold_constants(ir::Function& fn);

}  // namespace volley::passes
