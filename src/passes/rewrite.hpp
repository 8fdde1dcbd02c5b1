// Tools for passes that edit a function: a map of replaced values, use counts, removal from regions, and
// queries about jumps. Values never flow backwards (variables carry state around loops), so a single walk in
// execution order that resolves operands sees every use after its definition.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

/// Maps replaced values to their replacements: the result of merging, folding and forwarding.
class Replacements {
public:
    /// Replaces `from` by `to`, which must be usable wherever `from` is.
    void set(ir::NodeId from, ir::NodeId to);
    /// Returns the replacement of id, or id if there is none.
    [[nodiscard]] ir::NodeId of(ir::NodeId id) const;
    /// Rewrites the operands of one node.
    void apply(ir::Function& fn, ir::NodeId node) const;
    /// Rewrites the operands of all nodes that are listed in regions.
    void apply(ir::Function& fn) const;
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

private:
    std::vector<ir::NodeId> to_;
    std::size_t count_ = 0;
};

/// Replaces the operands of a node; `args` may be a span of the function's operand pool.
void set_args(ir::Function& fn, ir::NodeId node, std::span<const ir::NodeId> args);

/// Returns, per value, how often it is an operand of a live node (one that a region lists).
[[nodiscard]] std::vector<std::uint32_t> count_uses(const ir::Function& fn);

/// Returns the region that lists each node; none for dead nodes.
[[nodiscard]] std::vector<ir::RegionId> regions_of_nodes(const ir::Function& fn);

/// Returns the If, For or Loop that owns each region; none for the body and for unused regions.
[[nodiscard]] std::vector<ir::NodeId> owners_of_regions(const ir::Function& fn);

/// Removes the nodes for which dead(id) is true, with their regions, from all regions in use.
template <class Dead>
void erase_nodes(ir::Function& fn, ir::RegionId region, Dead&& dead) {
    std::erase_if(fn.regions[region].nodes, dead);
    for (const ir::NodeId id : fn.regions[region].nodes) {
        for (const ir::RegionId inner : fn.nodes[id].regions) {
            if (inner != ir::none) erase_nodes(fn, inner, dead);
        }
    }
}

/// Returns whether the region ends in a jump, or in an If both of whose branches do: nothing runs after it.
[[nodiscard]] bool ends_in_jump(const ir::Function& fn, ir::RegionId region);

/// Returns whether the region contains a break or continue of an enclosing loop.
[[nodiscard]] bool jumps_out(const ir::Function& fn, ir::RegionId region);

}  // namespace volley::passes
