// Checks that a function meets the contract of docs/ir.md.
#pragma once

#include "ir/function.hpp"

namespace volley::ir {

/// Checks types, dominance and scope of values, jumps outside loops, stores to read-only buffers, paths, and
/// that each region is used once. Throws IrError at the first violation, naming the kernel, the operation and
/// its source line. passes/uniformity.hpp checks that barriers are in uniform control flow.
void verify(const Function& fn);

}  // namespace volley::ir
