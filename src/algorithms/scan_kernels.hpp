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

/// The kernel in which a workgroup of one subgroup scans a tile of a line along the last axis, and waits for
/// the sum of the tiles before it. Requires that workgroups which have started run to their end, on threads
/// of the operating system: tiles are numbered in the order in which workgroups start, so that one never
/// waits for another that has not started.
///
/// `state` has a u32 per tile and one more, all zero at the start; `sums` has an element per tile.
[[nodiscard]] AnyKernel chain_kernel(const LineScan& scan, u32 width, u32 tile);
[[nodiscard]] std::vector<AnyArgument> chain_arguments(const LineScan& scan, u32 tile, const AnyBuffer& state,
                                                       const AnyBuffer& sums);

}  // namespace volley::algorithms
