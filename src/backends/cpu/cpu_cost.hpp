// Estimates what a kernel costs before it has run: decides which launches are worth other threads.
#pragma once

#include "ir/function.hpp"

namespace volley::backends::cpu {

/// Nanoseconds per invocation. Not certain if the length of a loop is only known at run time; such loops
/// count as long.
struct CostEstimate {
    double ns = 0;
    bool certain = true;
};

/// Estimates the cost from the operations of the body, which run `width` invocations at once.
[[nodiscard]] CostEstimate estimate_cost(const ir::Function& fn, unsigned width);

}  // namespace volley::backends::cpu
