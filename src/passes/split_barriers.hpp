// Splits a kernel at its barriers for execution by one thread per workgroup.
//
// Barriers are only in uniform control flow, so the uniform branches, loops and values around them are
// executed once per group. The code between two barriers is a segment: it runs for all invocations of the
// group, chunk by chunk, before the next item starts. Values and variables that are live across segments are
// spilled, one slot per chunk; values that are cheap to compute from ids and uniform values are recomputed
// instead.
//
// Requires: a verified function in which every barrier is in uniform control flow (check_barriers). Changes
// nothing.
#pragma once

#include "ir/function.hpp"
#include "passes/uniformity.hpp"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace volley::passes {

struct Segment {
    std::vector<ir::NodeId> nodes;        // in order; includes complete control flow
    std::vector<ir::NodeId> recompute{};  // values of earlier segments to recompute, in order
    std::vector<ir::NodeId> reload{};     // values of earlier segments to load from the spill area
    std::vector<ir::NodeId> save{};       // its values that later segments or group-level control need
    std::vector<ir::NodeId> variables{};  // spilled variables that it accesses
    std::vector<ir::NodeId> written{};    // the ones that it stores to
};

struct GroupRegion;

struct GroupItem {
    enum Kind { Node, Run, Control, Jump } kind = Node;
    ir::NodeId node = ir::none;        // Node, Control, Jump
    std::size_t segment = 0;           // Run
    std::vector<GroupRegion> inside;   // Control: its regions. No initialiser: the type is incomplete here
    std::vector<ir::NodeId> reload{};  // Control: operands to load from the first chunk's spill slots
};

struct GroupRegion {
    std::vector<GroupItem> items;
};

class SegmentPlan {
public:
    GroupRegion body;
    std::vector<Segment> segments;
    std::vector<ir::NodeId> spilled;  // values, each with a slot in the spill area
    bool masks = false;  // some lanes may return or continue separately: segments keep a live mask
    std::vector<ir::NodeId> masked_loops;  // group-level loops whose lanes may continue separately

    [[nodiscard]] bool group_variable(ir::NodeId var) const { return group_variables_.contains(var); }
    [[nodiscard]] bool spilled_variable(ir::NodeId var) const { return spilled_variables_.contains(var); }

private:
    friend class SegmentPlanner;
    std::unordered_set<ir::NodeId> group_variables_;
    std::unordered_set<ir::NodeId> spilled_variables_;
};

/// Returns whether the kernel has barriers. A kernel without barriers is one segment and needs no plan.
[[nodiscard]] bool has_barrier(const ir::Function& fn);
[[nodiscard]] SegmentPlan split_barriers(const ir::Function& fn, const Uniformity& uniformity);

}  // namespace volley::passes
