// Whether a kernel that was written elsewhere takes the parameters that it is called with.
#pragma once

#include "backends/opencl/opencl_logical.hpp"
#include "ir/function.hpp"

namespace volley::backends::opencl {

/// Compares what the driver knows of the kernel's arguments with `fn`'s parameters: their number, and where
/// it tells (devices with CL_KERNEL_ARG_INFO) kinds and builtin types. Throws CompileError.
void check_signature(LogicalDevice& device, cl_kernel kernel, const ir::Function& fn);

}  // namespace volley::backends::opencl
