// The process's OpenCL platforms and their devices: looked for once, when devices are first listed.
#pragma once

#include "backends/opencl/opencl_physical.hpp"

#include <vector>

namespace volley::backends::opencl {

/// The devices of all platforms that can serve, in the loader's order. Empty where there is no loader or no
/// platform, which the debug log says. Lives as long as the process, as drivers do.
struct Platforms {
    const Api* api = nullptr;  // null: no loader
    std::vector<PhysicalDevice> devices;

    [[nodiscard]] static const Platforms& open();
};

}  // namespace volley::backends::opencl
