// The memory of a context's devices: in use, and cached to serve later allocations without calling the
// driver.
#pragma once

#include <volley/api.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace volley {

/// The memory statistics of one device, or of all devices of a context.
struct DeviceMemoryStats {
    std::string id;                 ///< "cpu:0"; "total" for the sum
    std::uint64_t live = 0;         ///< bytes of existing replicas
    std::uint64_t cached = 0;       ///< freed bytes that are kept for reuse, or until pending work is done
    std::uint64_t peak = 0;         ///< maximum of `live`; for the total, the sum of the peaks
    std::uint64_t limit = 0;        ///< maximum number of bytes on the device
    std::uint64_t allocations = 0;  ///< allocations of replicas
    std::uint64_t cache_hits = 0;   ///< allocations that did not call the driver

    friend bool operator==(const DeviceMemoryStats&, const DeviceMemoryStats&) = default;
};

/// The memory statistics of a context.
struct MemoryStats {
    std::vector<DeviceMemoryStats> devices;  ///< in the order of the context's devices
    DeviceMemoryStats total;

    friend bool operator==(const MemoryStats&, const MemoryStats&) = default;
};

/// Prints "cpu:0: 1024 bytes live (peak 4096, limit 8589934592), 512 cached; 7 allocations, 3 from the
/// cache".
VOLLEY_API std::ostream& operator<<(std::ostream& out, const DeviceMemoryStats& stats);
/// Prints one line per device, and one for the total if there are several devices.
VOLLEY_API std::ostream& operator<<(std::ostream& out, const MemoryStats& stats);

/// Returns the memory statistics of the current context. Cheap; does not block.
[[nodiscard]] VOLLEY_API MemoryStats memory_stats();

/// Returns the cached memory of the current context to the drivers. Memory that pending work uses stays
/// cached; call wait() first to release it too.
VOLLEY_API void trim();

}  // namespace volley
