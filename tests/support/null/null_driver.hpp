// Registers the null backend for a test: "null:0", "null:1", ...
#pragma once

#include "support/null/null_device.hpp"

namespace volley::backends::null {

struct NullOptions {
    unsigned devices = 2;
    bool overlaps = false;  // queues that may run launches concurrently
};

/// Creates a driver whose devices all write to `log`. It is not one of the library's drivers.
[[nodiscard]] std::unique_ptr<backends::Driver> make_driver(std::shared_ptr<NullLog> log,
                                                            NullOptions options = {});

}  // namespace volley::backends::null
