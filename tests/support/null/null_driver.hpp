// Makes the null backend known to a test: "null:0", "null:1", ...
#pragma once

#include "support/null/null_device.hpp"

namespace volley::backends::null {

struct NullOptions {
    unsigned devices = 2;
    bool overlaps = false;  // queues that need not run launches one after the other
};

/// A driver of devices that all write to `log`. Not among the library's own drivers.
[[nodiscard]] std::unique_ptr<backends::Driver> make_driver(std::shared_ptr<NullLog> log,
                                                            NullOptions options = {});

}  // namespace volley::backends::null
