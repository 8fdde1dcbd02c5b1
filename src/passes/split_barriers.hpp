// Cuts a kernel at its barriers for execution by one thread a workgroup.
//
// Barriers stand in uniform control flow only. So everything around them is done once for the group: uniform
// branches, loops and values. What lies between two barriers is a segment: run for all invocations of the
// group, chunk by chunk, before the next item starts. Values and variables that live from one segment to
// another are spilled, one place a chunk; what is cheap to compute from ids and uniform values is computed
// again instead.
//
// Needs: a verified function in which every barrier stands in uniform control flow (check_barriers). Changes
// nothing.
#pragma once

#include "ir/function.hpp"
#include "passes/uniformity.hpp"

#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace volley::passes {

struct Segment {
    std::vector<ir::NodeId> nodes;        // in order; control flow inside is whole
    std::vector<ir::NodeId> recompute{};  // values of earlier segments that are computed again, in order
    std::vector<ir::NodeId> reload{};     // values of earlier segments that come from the spill area
    std::vector<ir::NodeId> save{};       // own values that later segments or group-level control need
    std::vector<ir::NodeId> variables{};  // spilled variables that it touches
    std::vector<ir::NodeId> written{};    // those of them that it stores to
};

struct GroupRegion;

struct GroupItem {
    enum Kind { Node, Run, Control, Jump } kind = Node;
    ir::NodeId node = ir::none;        // Node, Control, Jump
    std::size_t segment = 0;           // Run
    std::vector<GroupRegion> inside;   // Control: its regions. No initialiser: the type is not complete here
    std::vector<ir::NodeId> reload{};  // Control: operands that must be fetched from the first chunk's spills
};

struct GroupRegion {
    std::vector<GroupItem> items;
};

class SegmentPlan {
public:
    GroupRegion body;
    std::vector<Segment> segments;
    std::vector<ir::NodeId> spilled;  // values, each with a place in the spill area
    bool masks = false;  // some lanes may return or continue on their own: segments keep a live mask
    std::vector<ir::NodeId> masked_loops;  // group-level loops whose lanes may continue on their own

    [[nodiscard]] bool group_variable(ir::NodeId var) const { return group_variables_.contains(var); }
    [[nodiscard]] bool spilled_variable(ir::NodeId var) const { return spilled_variables_.contains(var); }

private:
    friend class SegmentPlanner;
    std::unordered_set<ir::NodeId> group_variables_;
    std::unordered_set<ir::NodeId> spilled_variables_;
};

/// A kernel without barriers needs no plan: it is one segment.
[[nodiscard]] bool has_barrier(const ir::Function& fn);
[[nodiscard]] SegmentPlan split_barriers(const ir::Function& fn, const Uniformity& uniformity);

}  // namespace volley::passes
