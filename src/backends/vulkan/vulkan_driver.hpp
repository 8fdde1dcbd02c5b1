// The driver of the Vulkan backend.
#pragma once

#include "backends/api/device.hpp"

#include <memory>

namespace volley::backends::vulkan {

/// Opens the loader when devices are first listed. Has no devices without a loader or a driver.
[[nodiscard]] std::unique_ptr<backends::Driver> make_driver();

}  // namespace volley::backends::vulkan
