// Statistics of a context: memory and transfers.
#pragma once

#include <volley/api.hpp>
#include <volley/memory_stats.hpp>

#include <cstdint>
#include <iosfwd>

namespace volley {

/// A snapshot of the number of transfers by path since the context was created. The numbers never decrease.
struct TransferStats {
    std::uint64_t whole = 0;         ///< one contiguous piece, one command
    std::uint64_t rects = 0;         ///< strided rows, by a rectangle copy of the driver
    std::uint64_t rows = 0;          ///< one command per row
    std::uint64_t direct = 0;        ///< copies by the host, in memory that it shares with the device
    std::uint64_t hops = 0;          ///< transfers between devices, through the host
    std::uint64_t driver_calls = 0;  ///< driver calls of all these transfers
    std::uint64_t bytes = 0;         ///< bytes moved by all these transfers

    friend bool operator==(const TransferStats&, const TransferStats&) = default;
};

/// All statistics of a context.
struct Statistics {
    MemoryStats memory;
    TransferStats transfers;
};

/// Prints one line.
VOLLEY_API std::ostream& operator<<(std::ostream& out, const TransferStats& stats);
/// Prints the lines of the memory statistics, then one line for the transfers.
VOLLEY_API std::ostream& operator<<(std::ostream& out, const Statistics& stats);

}  // namespace volley
