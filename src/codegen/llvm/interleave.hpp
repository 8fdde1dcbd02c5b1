// Converts between memory order and lane order in registers: contiguous items of n scalars fill n vectors; in
// lane order, they are n vectors of one component each. Uses the prime factors of n, so the number of
// shuffles grows as n log n, with short dependency chains.
#pragma once

#include "codegen/llvm/code_builder.hpp"

#include <vector>

namespace volley::codegen::llvm {

/// Component k of lane l is element l * n + k of the n vectors.
[[nodiscard]] std::vector<Val> deinterleave(CodeBuilder& c, const std::vector<Val>& items);

/// The inverse: returns the vectors to store from the vectors of components.
[[nodiscard]] std::vector<Val> interleave(CodeBuilder& c, const std::vector<Val>& components);

}  // namespace volley::codegen::llvm
