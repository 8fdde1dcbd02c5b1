// Which values are the same in all invocations of a workgroup, and where control flow may diverge inside of
// one (docs/ir.md section 6). The analysis is a fixpoint: all is uniform until something says otherwise.
//
// Needs: a verified function. Changes nothing.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

class Uniformity {
public:
    /// Workgroup-uniform: all invocations that run the operation get the same value. For a Var: all its loads
    /// at uniform paths are.
    [[nodiscard]] bool uniform(ir::NodeId id) const { return !varying_[id]; }
    /// Control may be divergent where the region starts (for a loop's body: in some iteration).
    [[nodiscard]] bool divergent_region(ir::RegionId region) const {
        return region_cause_[region] != ir::none;
    }
    /// Control may be divergent where the node stands: not all invocations of the workgroup may run it.
    [[nodiscard]] bool divergent(ir::NodeId id) const { return node_cause_[id] != ir::none; }
    /// The If, For, or jump that makes control divergent where the node stands; none when it is uniform.
    [[nodiscard]] ir::NodeId cause(ir::NodeId id) const { return node_cause_[id]; }
    /// Some invocations of a workgroup may return while others go on.
    [[nodiscard]] bool has_divergent_return() const noexcept { return divergent_return_; }
    /// The loop may be left by some invocations while others stay in it.
    [[nodiscard]] bool divergent_loop(ir::NodeId loop) const { return loop_cause_[loop] != ir::none; }

private:
    friend class UniformityAnalysis;
    std::vector<bool> varying_;             // per node
    std::vector<ir::NodeId> node_cause_;    // per node
    std::vector<ir::NodeId> region_cause_;  // per region
    std::vector<ir::NodeId> loop_cause_;  // per node: what makes invocations leave a loop at different times
    bool divergent_return_ = false;
};

[[nodiscard]] Uniformity analyse_uniformity(const ir::Function& fn);

/// Throws IrError when a barrier stands where control may be divergent, naming its source line and that of
/// the condition, loop or jump which is the reason.
void check_barriers(const ir::Function& fn, const Uniformity& uniformity);

}  // namespace volley::passes
