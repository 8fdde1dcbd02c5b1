// Analyses how values differ between the lanes of a vector, for code that runs W invocations at a time: which
// values are the same in all lanes, and which integers are an arithmetic progression, so that accesses become
// contiguous vector loads and stores.
//
// Requires: a verified, preferably optimised function, and a model of how ids vary over the lanes. Changes
// nothing. Facts about a value hold for the lanes that are active when it is computed; facts about a variable
// hold for the lanes that are active at its declaration.
#pragma once

#include "passes/lane_value.hpp"

#include <optional>

namespace volley::passes {

/// Describes the ids of the W lanes of a vector. The `align` of a shape divides the id of lane 0.
struct LaneModel {
    unsigned width = 1;  // a power of two
    LaneShape global_id[3];
    LaneShape local_id[3];
    LaneShape local_index;
    /// All lanes belong to one workgroup.
    bool group_uniform = true;
    /// The lanes are one subgroup, in order: folds, votes and broadcasts have the same result in all lanes.
    bool subgroup_is_vector = true;
    /// Stores to variables whose shape is not Varying are unmasked (inactive lanes do not use the variable).
    /// Otherwise a variable with a masked store is Uniform or Varying.
    bool plain_stores = false;
    /// The largest possible ids. Smaller limits let ids convert to i32 without overflow.
    std::uint64_t max_global_id = 0xffffffff;
    std::uint64_t max_local_id = 0xffffffff;
};

class LaneAnalysis {
public:
    /// Returns the shape of a scalar; for other types Uniform if all components are uniform, else Varying.
    /// For a Var, returns the shape of its loads.
    [[nodiscard]] LaneShape shape(ir::NodeId id) const;
    /// Returns the shape of a component of a vector or complex number; for other types the same as shape(id).
    [[nodiscard]] LaneShape shape(ir::NodeId id, unsigned component) const;
    /// Returns whether all active lanes have the same value, of any type. If the operands still differ
    /// between lanes (all lanes are below the bound that they are compared with), the operands of lane 0
    /// determine the result.
    [[nodiscard]] bool lane_uniform(ir::NodeId id) const;
    /// Returns whether base + lane * stride may leave the range of the type within a vector, so that widened
    /// lanes would not be a progression. (In `data[i - 1]` with i > 0 the u32 index of lane 0 wraps if that
    /// lane is masked off.)
    [[nodiscard]] bool may_wrap(ir::NodeId id) const;

    /// Returns the greatest value of an unsigned 32-bit integer in any lane, if it is below 2^31.
    [[nodiscard]] std::optional<std::uint64_t> small_limit(ir::NodeId id) const;

    /// Returns whether control flow may have disabled some lanes at the node.
    [[nodiscard]] bool masked(ir::NodeId id) const { return masked_nodes_[id]; }
    /// Returns the same for the start of a region; for the body of a loop, in any iteration.
    [[nodiscard]] bool masked_region(ir::RegionId region) const { return masked_regions_[region]; }

private:
    friend class LaneWalk;
    [[nodiscard]] std::span<const LaneValue> values(ir::NodeId id) const {
        return {values_.data() + first_[id], first_[id + 1] - first_[id]};
    }

    unsigned width_ = 1;
    std::vector<ScalarType> types_;     // per node: the scalar type if it is numeric
    std::vector<std::uint32_t> first_;  // per node: index of its first value; plus one entry at the end
    std::vector<LaneValue> values_;     // one per component of vectors and complex numbers, else one per node
    std::vector<bool> masked_nodes_;
    std::vector<bool> masked_regions_;
};

[[nodiscard]] LaneAnalysis analyse_lanes(const ir::Function& fn, const LaneModel& model);

}  // namespace volley::passes
