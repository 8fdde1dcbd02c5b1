// A stable hash of a function, the key of all compile caches. Equal kernels have equal hashes, independently
// of node numbering, source lines and process.
#pragma once

#include "core/hash.hpp"
#include "ir/function.hpp"

namespace volley::ir {

/// Hashes name, parameters, types with their layouts, local size, nodes, regions, constants and strings, but
/// not source locations, dead nodes, parameter names or the positions of constants. Requires a verified
/// function.
[[nodiscard]] Hash128 hash(const Function& fn);

}  // namespace volley::ir
