// Checks that the parameters of a foreign kernel match its declaration.
#pragma once

#include "backends/opencl/opencl_logical.hpp"
#include "ir/function.hpp"

namespace volley::backends::opencl {

/// Compares the kernel's arguments, as reported by the driver, with `fn`'s parameters: their number, and on
/// devices with CL_KERNEL_ARG_INFO their kinds and builtin types. Throws CompileError.
void check_signature(LogicalDevice& device, cl_kernel kernel, const ir::Function& fn);

}  // namespace volley::backends::opencl
