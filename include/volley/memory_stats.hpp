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

/// The compiled kernels of a context. Code of a kernel is kept as long as a Kernel or a graph refers to it.
/// After that it is cached: a kernel with the same body that is created later uses it. When the limit is
/// exceeded, the kernels that were released first are removed, once the commands that use them have
/// completed.
struct ProgramStats {
    std::uint64_t kernels = 0;       ///< kernels whose code is in memory, cached ones included
    std::uint64_t bytes = 0;         ///< estimate of their code and IR on all devices
    std::uint64_t cached = 0;        ///< the part of `bytes` that is cached
    std::uint64_t limit = 0;         ///< maximum of `cached`
    std::uint64_t compilations = 0;  ///< kernels that were not found in memory
    std::uint64_t evictions = 0;     ///< cached kernels that were removed

    friend bool operator==(const ProgramStats&, const ProgramStats&) = default;
};

/// The memory statistics of a context.
struct MemoryStats {
    std::vector<DeviceMemoryStats> devices;  ///< in the order of the context's devices
    DeviceMemoryStats total;
    ProgramStats programs;

    friend bool operator==(const MemoryStats&, const MemoryStats&) = default;
};

/// Prints "cpu:0: 1024 bytes live (peak 4096, limit 8589934592), 512 cached; 7 allocations, 3 from the
/// cache".
VOLLEY_API std::ostream& operator<<(std::ostream& out, const DeviceMemoryStats& stats);
/// Prints "kernels: 12 with 131072 bytes (65536 cached, limit 67108864); 20 compilations, 8 evictions".
VOLLEY_API std::ostream& operator<<(std::ostream& out, const ProgramStats& stats);
/// Prints one line per device, one for the total if there are several devices, and one for the kernels.
VOLLEY_API std::ostream& operator<<(std::ostream& out, const MemoryStats& stats);

/// Returns the memory statistics of the current context. Cheap; does not block.
[[nodiscard]] VOLLEY_API MemoryStats memory_stats();

/// Returns the cached memory of the current context to the drivers, and removes cached kernels. Memory that
/// pending work uses stays cached; call wait() first to release it too.
VOLLEY_API void trim();

}  // namespace volley
