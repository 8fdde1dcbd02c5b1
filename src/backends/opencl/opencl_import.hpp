// Imported memory: host memory (CL_MEM_USE_HOST_PTR) and buffers of the same cl_context. Neither counts
// against the device's budget.
#pragma once

#include "backends/opencl/opencl_memory.hpp"

#include <volley/native.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace volley::backends::opencl {

/// `share`: host() is the caller's pointer, because the device works in host memory directly. Otherwise the
/// driver keeps a copy that only transfers access.
[[nodiscard]] std::unique_ptr<OpenClMemory> import_host(std::shared_ptr<LogicalDevice> device,
                                                        std::span<std::byte> bytes, bool share);

/// Throws DeviceError (Unsupported) for another driver's object, ArgumentError for a buffer of another
/// context or a range outside the buffer.
[[nodiscard]] std::unique_ptr<OpenClMemory> import_native(std::shared_ptr<LogicalDevice> device,
                                                          const NativeBuffer& buffer);

}  // namespace volley::backends::opencl
