// The process's OpenCL platforms and devices, enumerated once when devices are first listed.
#pragma once

#include "backends/opencl/opencl_physical.hpp"

#include <vector>

namespace volley::backends::opencl {

/// All usable devices of all platforms, in the loader's order. Empty if there is no loader or no platform;
/// the debug log contains the reason. Never destroyed, because drivers are not either.
struct Platforms {
    const Api* api = nullptr;  // null: no loader
    std::vector<PhysicalDevice> devices;

    [[nodiscard]] static const Platforms& open();
};

}  // namespace volley::backends::opencl
