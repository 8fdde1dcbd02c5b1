// The CPU backend: one device, the host processor.
#pragma once

#include "backends/api/device.hpp"

#include <memory>

namespace volley::backends::cpu {

[[nodiscard]] std::unique_ptr<backends::Driver> make_driver();

}  // namespace volley::backends::cpu
