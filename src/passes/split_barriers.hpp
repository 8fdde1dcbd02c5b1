// Where a kernel with barriers is cut into segments, each of which runs for all invocations of a workgroup before
// the next starts, and what must be kept from one to another.
//
// A region that holds a barrier (itself, or in control flow inside of it) is cut at its barriers and at the control
// nodes that hold one; the runs between are segments. Those control nodes are uniform in the workgroup
// (check_barriers), so they are carried out once for the workgroup, between segments.
//
// Needs: a verified function in which every barrier stands in uniform control flow. Changes nothing.
#pragma once

#include "passes/uniformity.hpp"

namespace volley::passes {

struct BarrierPlan {
    /// The function has a barrier; all else is empty when it has none.
    bool any = false;
    /// Per region: it holds a barrier, at any depth.
    std::vector<bool> region_has_barrier;
    /// Per node: its segment, numbered in execution order; none for barriers and for control nodes that hold one.
    std::vector<std::uint32_t> segment;
    std::uint32_t segment_count = 0;
    /// Values that differ between invocations and are used in another segment than their own: one slot an
    /// invocation. In order of definition.
    std::vector<ir::NodeId> spilled;
    /// Values that are used in another segment, but cost less to compute again there than to keep: arithmetic on ids,
    /// constants, parameters, kept values and indices of uniform loops. In order of definition; operands are other
    /// members of this list, spilled or carried values, or available everywhere.
    std::vector<ir::NodeId> recompute;
    /// Workgroup-uniform values that are used in another segment or by a control node between segments: one slot a
    /// workgroup. Constants, parameters, group ids, sizes and indices of uniform loops are not listed.
    std::vector<ir::NodeId> carried;
    /// Variables whose value lives from one segment to another (or to the same one in the next iteration of a loop
    /// with a barrier): one slot an invocation. Others may be local to each segment that uses them.
    std::vector<ir::NodeId> spilled_vars;
};

[[nodiscard]] BarrierPlan plan_barriers(const ir::Function& fn, const Uniformity& uniformity);

}  // namespace volley::passes
