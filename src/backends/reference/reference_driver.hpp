// Finds the reference device: there is always one.
#pragma once

#include "backends/api/device.hpp"

namespace volley::backends::reference {

/// A context's cpu_width, where given, is the reference device's subgroup size too, so that results of
/// subgroup operations can be compared with those of a CPU device of that width.
[[nodiscard]] std::unique_ptr<backends::Driver> make_driver();

}  // namespace volley::backends::reference
