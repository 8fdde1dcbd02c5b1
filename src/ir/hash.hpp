// A stable hash of a function: equal for equal kernels, whatever the numbering of nodes, the source lines and
// the process. It is the key of all compile caches.
#pragma once

#include "core/hash.hpp"
#include "ir/function.hpp"

namespace volley::ir {

/// Covers name, parameters, types with their layouts, local size, nodes, regions, constants, strings;
/// not source locations, dead nodes, parameter names, or where a constant stands. Needs a function that
/// verifies.
[[nodiscard]] Hash128 hash(const Function& fn);

}  // namespace volley::ir
