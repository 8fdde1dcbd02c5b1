// The CPU as a backend: one device, the processor that the program runs on.
#pragma once

#include "backends/api/device.hpp"

#include <memory>

namespace volley::backends::cpu {

[[nodiscard]] std::unique_ptr<backends::Driver> make_driver();

}  // namespace volley::backends::cpu
