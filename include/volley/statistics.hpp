// What a context has done so far: memory, and how bytes travelled.
#pragma once

#include <volley/api.hpp>
#include <volley/memory_stats.hpp>

#include <cstdint>
#include <iosfwd>

namespace volley {

/// How many transfers took which path, since the context was made. A snapshot; each number only grows.
struct TransferStats {
    std::uint64_t whole = 0;         ///< one piece of memory, one command
    std::uint64_t rects = 0;         ///< rows that lie apart, as the driver's rectangle
    std::uint64_t rows = 0;          ///< row by row
    std::uint64_t direct = 0;        ///< done by the host, in memory that it shares with the device
    std::uint64_t hops = 0;          ///< between devices, through the host
    std::uint64_t driver_calls = 0;  ///< made for all of these
    std::uint64_t bytes = 0;         ///< moved by all of these

    friend bool operator==(const TransferStats&, const TransferStats&) = default;
};

struct Statistics {
    MemoryStats memory;
    TransferStats transfers;
};

VOLLEY_API std::ostream& operator<<(std::ostream& out, const TransferStats& stats);
/// The memory's lines, then one for the transfers.
VOLLEY_API std::ostream& operator<<(std::ostream& out, const Statistics& stats);

}  // namespace volley
