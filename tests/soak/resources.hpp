// What a process holds: resident memory, threads and file descriptors.
#pragma once

#include <cstdint>

namespace volley::soak {

struct Resources {
    std::uint64_t resident = 0;  // bytes
    unsigned threads = 0;
    unsigned descriptors = 0;
};

/// Returns freed memory to the system, then measures.
[[nodiscard]] Resources measure_resources();

}  // namespace volley::soak
