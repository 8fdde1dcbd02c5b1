// Determines which values are the same in all invocations of a workgroup, and where control flow may diverge
// within one (docs/ir.md section 6). The analysis is a fixpoint that starts with everything uniform.
//
// Requires: a verified function. Changes nothing.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

class Uniformity {
public:
    /// Returns whether all invocations of a workgroup that run the operation compute the same value. For a
    /// Var, returns whether its loads with uniform paths do.
    [[nodiscard]] bool uniform(ir::NodeId id) const { return !varying_[id]; }
    /// Returns whether control flow may be divergent at the start of the region (for the body of a loop, in
    /// some iteration).
    [[nodiscard]] bool divergent_region(ir::RegionId region) const {
        return region_cause_[region] != ir::none;
    }
    /// Returns whether control flow may be divergent at the node, so that not all invocations of the
    /// workgroup run it.
    [[nodiscard]] bool divergent(ir::NodeId id) const { return node_cause_[id] != ir::none; }
    /// Returns the If, For or jump that makes control flow divergent at the node; none if it is uniform.
    [[nodiscard]] ir::NodeId cause(ir::NodeId id) const { return node_cause_[id]; }
    /// Returns whether some invocations of a workgroup may return while others continue.
    [[nodiscard]] bool has_divergent_return() const noexcept { return divergent_return_; }
    /// Returns whether some invocations may leave the loop while others stay in it.
    [[nodiscard]] bool divergent_loop(ir::NodeId loop) const { return loop_cause_[loop] != ir::none; }

private:
    friend class UniformityAnalysis;
    std::vector<bool> varying_;             // per node
    std::vector<ir::NodeId> node_cause_;    // per node
    std::vector<ir::NodeId> region_cause_;  // per region
    std::vector<ir::NodeId>
        loop_cause_;  // per node: the cause of invocations leaving a loop at different times
    bool divergent_return_ = false;
};

[[nodiscard]] Uniformity analyse_uniformity(const ir::Function& fn);

/// Throws IrError if a barrier is in divergent control flow, naming its source line and that of the
/// condition, loop or jump that causes the divergence.
void check_barriers(const ir::Function& fn, const Uniformity& uniformity);

}  // namespace volley::passes
