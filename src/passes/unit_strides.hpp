// Specialises a kernel for buffers whose last axis is contiguous.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

/// Replaces the stride of the last axis of every buffer that is accessed by position by 1, so that accesses
/// along it are known to be contiguous. The parameters stay. Returns whether there were any.
bool assume_unit_strides(ir::Function& fn);

}  // namespace volley::passes
