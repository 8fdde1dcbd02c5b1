// Checks that a function keeps the contract of docs/ir.md.
#pragma once

#include "ir/function.hpp"

namespace volley::ir {

/// Throws IrError at the first violation, naming the kernel, the operation and its source line: types,
/// dominance and scope of values, jumps only inside loops, stores to read-only buffers, well-formed paths,
/// regions used once. That barriers stand in uniform control flow is checked by passes/uniformity.hpp.
void verify(const Function& fn);

}  // namespace volley::ir
