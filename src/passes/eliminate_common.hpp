// Eliminates common subexpressions and repeated loads, and forwards stores to loads.
//
// Requires: a verified function; works best after fold_constants. Ensures: no pure operation is dominated by
// an equal one, and no load reads memory whose value is known from an earlier load or store in the same or an
// enclosing region without an intervening write that may alias it. Replaced nodes are removed from their
// regions; stores stay (eliminate_dead removes those that nothing reads).
//
// Two buffers may be bound to the same memory, so a store to one invalidates the known values of the others;
// shared arrays and variables alias nothing. Barriers, fences and atomics invalidate what other invocations
// may write.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void eliminate_common(ir::Function& fn);

}  // namespace volley::passes
