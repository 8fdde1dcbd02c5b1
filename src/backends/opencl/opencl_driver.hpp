// The driver of the OpenCL backend.
#pragma once

#include "backends/api/device.hpp"

#include <memory>

namespace volley::backends::opencl {

/// Opens the ICD loader when devices are first listed. Has no devices without a loader or a platform.
[[nodiscard]] std::unique_ptr<backends::Driver> make_driver();

}  // namespace volley::backends::opencl
