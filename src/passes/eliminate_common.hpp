// Common subexpressions, repeated loads and store-to-load forwarding.
//
// Needs: a verified function; works best after fold_constants. Leaves: no pure operation that an equal one
// dominates, and no load of a place whose value is known from a load or store before it in the same or an
// enclosing region with no write between that may touch it. Replaced nodes are gone from their regions;
// stores stay (eliminate_dead removes those that nothing reads).
//
// Two buffers may be bound to the same memory, so a store to one forgets what is known of the others; shared
// arrays and variables are apart from everything. Barriers, fences and atomics forget what others may write.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

void eliminate_common(ir::Function& fn);

}  // namespace volley::passes
