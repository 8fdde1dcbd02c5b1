// Dead code.
//
// Needs: a verified function. Leaves: no pure operation, load or subgroup operation whose result is unused;
// no store to a variable or shared array that nothing reads, nor to a variable that is stored to again first;
// no empty If or For; nothing after a jump, and no jump to where control goes anyway; no unused variables and
// shared arrays. Loops by `loop` stay even when empty: they may be meant not to end. Parameters stay.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void eliminate_dead(ir::Function& fn);

}  // namespace volley::passes
