// Makes guards explicit: a load whose value only reaches the right operand of `&&` or `||`, or an arm of a
// select, runs only where that operand or arm is chosen (docs/ir.md, section 2).
//
// Requires: a verified function. Ensures: an equivalent function in which each such load is in an If, whose
// condition implies that the value is needed; its result goes through a variable. Loads that cannot leave
// their memory (constant paths of variables and shared arrays) stay where they are. Idempotent.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void guard_loads(ir::Function& fn);

}  // namespace volley::passes
