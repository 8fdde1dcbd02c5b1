// Makes the null backend known to a test: "null:0", "null:1", ...
#pragma once

#include "backends/null/null_device.hpp"

namespace volley::backends::null {

/// A driver of that many devices, which all write to `log`. Not among the library's own drivers.
[[nodiscard]] std::unique_ptr<backend::Driver> make_driver(std::shared_ptr<NullLog> log,
                                                           unsigned devices = 2);

}  // namespace volley::backends::null
