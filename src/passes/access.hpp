// How values differ over the lanes of one vector, for code that runs W invocations at a time: which are the
// same in all lanes, and which integers are an arithmetic progression, so that accesses become plain vector
// loads and stores.
//
// Needs: a verified function, best an optimised one, and a model of how ids vary over the lanes. Changes
// nothing. What it says of a value holds for the lanes that are active where the value is computed; what it
// says of a variable holds for those that are active where it is declared.
#pragma once

#include "passes/lane_value.hpp"

namespace volley::passes {

/// How the ids of the W lanes of one vector relate. The shapes' `align` is what is known of lane 0's id.
struct LaneModel {
    unsigned width = 1;  // a power of two
    LaneShape global_id[3];
    LaneShape local_id[3];
    LaneShape local_index;
    /// All lanes belong to one workgroup.
    bool group_uniform = true;
    /// The lanes are one subgroup, in order: folds, votes and broadcasts give one value to all of them.
    bool subgroup_is_vector = true;
    /// Stores to variables whose shape is not Varying are written without a mask (lanes that are not active
    /// have no use for the variable). Without this promise a variable that is stored to under a mask is
    /// uniform or Varying.
    bool plain_stores = false;
    /// No lane's id is larger; lower bounds let ids convert to i32 without a thought of overflow.
    std::uint64_t max_global_id = 0xffffffff;
    std::uint64_t max_local_id = 0xffffffff;
};

class LaneAnalysis {
public:
    /// The shape of a scalar; of other types Uniform when all of it is, else Varying. For a Var: of its
    /// loads.
    [[nodiscard]] LaneShape shape(ir::NodeId id) const;
    /// The shape of a component of a vector or complex number; of other types as shape(id).
    [[nodiscard]] LaneShape shape(ir::NodeId id, unsigned component) const;
    /// All active lanes agree on the value, whatever its type. Where operands differ over the lanes
    /// nevertheless (a vector's lanes all lie below the bound that they are compared with), lane 0's operands
    /// give the result.
    [[nodiscard]] bool lane_uniform(ir::NodeId id) const;
    /// base + lane * stride may leave the range of the type inside of a vector, so that widened lanes would
    /// not be a progression. (`data[i - 1]` where i > 0: lane 0's u32 index wraps, in a lane that is masked
    /// off.)
    [[nodiscard]] bool may_wrap(ir::NodeId id) const;

    /// Some lanes may be missing where the node stands, because of control flow.
    [[nodiscard]] bool masked(ir::NodeId id) const { return masked_nodes_[id]; }
    /// The same for the start of a region; for a loop's body in any iteration.
    [[nodiscard]] bool masked_region(ir::RegionId region) const { return masked_regions_[region]; }

private:
    friend class LaneWalk;
    [[nodiscard]] std::span<const LaneValue> values(ir::NodeId id) const {
        return {values_.data() + first_[id], first_[id + 1] - first_[id]};
    }

    unsigned width_ = 1;
    std::vector<ScalarType> types_;     // per node: the scalar type of numeric ones
    std::vector<std::uint32_t> first_;  // per node: where its values start; one more at the end
    std::vector<LaneValue> values_;     // one for each component of vectors and complex numbers, else one
    std::vector<bool> masked_nodes_;
    std::vector<bool> masked_regions_;
};

[[nodiscard]] LaneAnalysis analyse_lanes(const ir::Function& fn, const LaneModel& model);

}  // namespace volley::passes
