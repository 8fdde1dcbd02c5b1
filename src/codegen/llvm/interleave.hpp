// Between memory's order and lanes', in registers: items of n scalars that lie one behind the other fill n
// vectors; by lanes, they are n vectors of one component each. Works by the prime factors of n, so that the
// number of shuffles grows as n log n and none depends on a long chain of others.
#pragma once

#include "codegen/llvm/code_builder.hpp"

#include <vector>

namespace volley::codegen::llvm {

/// Component k of lane l is element l * n + k of the n vectors given.
[[nodiscard]] std::vector<Val> deinterleave(CodeBuilder& c, const std::vector<Val>& items);

/// The inverse: the vectors to store, from those of the components.
[[nodiscard]] std::vector<Val> interleave(CodeBuilder& c, const std::vector<Val>& components);

}  // namespace volley::codegen::llvm
