// The Vulkan backend's devices.
#pragma once

#include "backends/api/device.hpp"

#include <memory>

namespace volley::backends::vulkan {

/// Opens the loader when devices are first asked for. Without a loader or a driver it has none.
[[nodiscard]] std::unique_ptr<backends::Driver> make_driver();

}  // namespace volley::backends::vulkan
