// Estimates what a kernel costs on the host before it has run: decides which launches are worth other
// threads, and which surely end soon.
#pragma once

#include "ir/function.hpp"

namespace volley::backends {

/// Nanoseconds per invocation. Not certain if the length of a loop is only known at run time; such loops
/// count as long. Not certain either if the kernel prints, because the print sink is the user's.
struct CostEstimate {
    double ns = 0;
    bool certain = true;
};

/// Estimates the cost from the operations of the body, which run `width` invocations at once.
[[nodiscard]] CostEstimate estimate_cost(const ir::Function& fn, unsigned width);

}  // namespace volley::backends
