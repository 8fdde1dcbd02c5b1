// The kernels of scans. A scan with enough lines is one kernel. Otherwise lines are cut: into parts, which
// three phases scan (sums of the parts; a scan of the sums; a scan of each part that starts with the sum of
// the parts before it), or, on the CPU backend, into tiles that one kernel scans in a chain.
#pragma once

#include "algorithms/lines.hpp"

#include <volley/algorithms/scan.hpp>

namespace volley::algorithms {

/// One level of a scan.
struct LineScan {
    Lines lines;
    AnySource from;
    AnySink to;
    detail::ScanRequest request;
    std::optional<ScanSegments> segments;
};

/// The sums of parts and whether segments start in them. Both have the shape (outer, parts, inner).
struct PartSums {
    AnyBuffer sums;
    std::optional<AnyBuffer> starts;  ///< u32
};

/// How invocations are numbered: along x and y, or, if `flat`, along x only, at the cost of divisions.
struct PartGrid {
    std::int64_t length = 0;  ///< of a part
    std::int64_t parts = 1;   ///< of a line
    bool flat = true;
};

/// The kernel that sums the parts, and its arguments.
[[nodiscard]] AnyKernel part_sums_kernel(const LineScan& scan, const PartGrid& grid);
[[nodiscard]] std::vector<AnyArgument> part_sums_arguments(const LineScan& scan, const PartGrid& grid,
                                                           const PartSums& sums);
/// The kernel that scans the parts. The sums, if there is more than one part, have been scanned.
[[nodiscard]] AnyKernel parts_kernel(const LineScan& scan, const PartGrid& grid);
[[nodiscard]] std::vector<AnyArgument> parts_arguments(const LineScan& scan, const PartGrid& grid,
                                                       const PartSums& sums);

/// The kernel in which a workgroup of one subgroup, of `width` lanes, scans a line along the last axis.
[[nodiscard]] AnyKernel rows_kernel(const LineScan& scan, u32 width);
[[nodiscard]] std::vector<AnyArgument> rows_arguments(const LineScan& scan);

/// What the tiles of a chain publish.
struct ChainState {
    AnyBuffer states;    ///< u32, one per tile and one more; zero at the start
    AnyBuffer own;       ///< the sum of each tile
    AnyBuffer complete;  ///< the sum of the line up to the end of each tile
};

/// The kernel in which a workgroup of one subgroup scans a tile of a line along the last axis and adds the
/// sum of the tiles before it.
[[nodiscard]] AnyKernel chain_kernel(const LineScan& scan, u32 width, u32 tile);
[[nodiscard]] std::vector<AnyArgument> chain_arguments(const LineScan& scan, u32 tile,
                                                       const ChainState& state);

}  // namespace volley::algorithms
