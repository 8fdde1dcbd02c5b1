// What a context's devices hold: for the user, and to serve the next allocations without asking the driver.
#pragma once

#include <volley/api.hpp>

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace volley {

/// Bytes and counts of one device, or of all of them together.
struct DeviceMemoryStats {
    std::string id;            ///< "cpu:0"; "total" for the sum
    std::uint64_t live = 0;    ///< bytes of the replicas that exist
    std::uint64_t cached = 0;  ///< bytes that were freed and are held: for reuse, or while work uses them
    std::uint64_t peak = 0;    ///< the most that was live at once; in the total, the sum of the peaks
    std::uint64_t limit = 0;   ///< bytes that the device may hold
    std::uint64_t allocations = 0;  ///< replicas that were given memory
    std::uint64_t cache_hits = 0;   ///< those of them that needed no driver

    friend bool operator==(const DeviceMemoryStats&, const DeviceMemoryStats&) = default;
};

struct MemoryStats {
    std::vector<DeviceMemoryStats> devices;  ///< in the context's order
    DeviceMemoryStats total;

    friend bool operator==(const MemoryStats&, const MemoryStats&) = default;
};

/// A line: `cpu:0: 1024 bytes live (peak 4096, limit 8589934592), 512 cached; 7 allocations, 3 from the
/// cache`.
VOLLEY_API std::ostream& operator<<(std::ostream& out, const DeviceMemoryStats& stats);
/// A line for each device, and one for the total where there are several.
VOLLEY_API std::ostream& operator<<(std::ostream& out, const MemoryStats& stats);

/// Of the current context. Cheap: waits for nothing.
[[nodiscard]] VOLLEY_API MemoryStats memory_stats();

/// Gives memory that the current context only caches back to the drivers. What unfinished work still uses
/// stays until it is done; wait() before to be rid of that too.
VOLLEY_API void trim();

}  // namespace volley
