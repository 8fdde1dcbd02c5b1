// The OpenCL backend's devices.
#pragma once

#include "backends/api/device.hpp"

#include <memory>

namespace volley::backends::opencl {

/// Opens the ICD loader when devices are first asked for. Without a loader or a platform it has none.
[[nodiscard]] std::unique_ptr<backends::Driver> make_driver();

}  // namespace volley::backends::opencl
