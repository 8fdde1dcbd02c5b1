// Stream output of statistics.
#include <volley/statistics.hpp>

#include <ostream>

namespace volley {

std::ostream& operator<<(std::ostream& out, const DeviceMemoryStats& stats) {
    return out << stats.id << ": " << stats.live << " bytes live (peak " << stats.peak << ", limit "
               << stats.limit << "), " << stats.cached << " cached; " << stats.allocations << " allocations, "
               << stats.cache_hits << " from the cache";
}

std::ostream& operator<<(std::ostream& out, const ProgramStats& stats) {
    return out << "kernels: " << stats.kernels << " with " << stats.bytes << " bytes (" << stats.cached
               << " cached, limit " << stats.limit << "); " << stats.compilations << " compilations, "
               << stats.evictions << " evictions";
}

std::ostream& operator<<(std::ostream& out, const MemoryStats& stats) {
    for (const DeviceMemoryStats& device : stats.devices) out << device << '\n';
    if (stats.devices.size() > 1) out << stats.total << '\n';
    return out << stats.programs << '\n';
}

std::ostream& operator<<(std::ostream& out, const TransferStats& stats) {
    return out << "transfers: " << stats.whole << " whole, " << stats.rects << " rectangles, " << stats.rows
               << " by rows, " << stats.direct << " by the host, " << stats.hops << " between devices; "
               << stats.driver_calls << " driver calls, " << stats.bytes << " bytes";
}

std::ostream& operator<<(std::ostream& out, const Statistics& stats) {
    return out << stats.memory << stats.transfers << '\n';
}

}  // namespace volley
