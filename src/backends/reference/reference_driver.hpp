// The driver of the reference backend, which always has one device.
#pragma once

#include "backends/api/device.hpp"

namespace volley::backends::reference {

/// If a context sets cpu_width, it is also the reference device's subgroup size, so that results of subgroup
/// operations compare with those of a CPU device of that width.
[[nodiscard]] std::unique_ptr<backends::Driver> make_driver();

}  // namespace volley::backends::reference
