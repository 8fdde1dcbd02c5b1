// Eliminates dead code.
//
// Requires: a verified function. Ensures: no pure operation, load or subgroup operation with an unused
// result; no store to a variable or shared array that nothing reads, nor to a variable that is overwritten
// before it is read; no empty If or For; nothing after a jump, and no redundant jump; no unused variables and
// shared arrays. A `loop` stays even if it is empty, because it may be intended not to terminate. Parameters
// stay.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void eliminate_dead(ir::Function& fn);

}  // namespace volley::passes
