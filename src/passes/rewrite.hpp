// What passes share for editing a function: a map of replaced values, use counts, erasing from regions, and
// questions about jumps. Values never flow backwards (variables carry state around loops), so one walk in
// execution order that resolves operands as it goes sees every use after its definition.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

/// Which value stands for which: the result of merging, folding and forwarding.
class Replacements {
public:
    /// From now on `to` stands for `from`. `to` must be usable wherever `from` is.
    void set(ir::NodeId from, ir::NodeId to);
    /// What stands for id now; id itself when nothing does.
    [[nodiscard]] ir::NodeId of(ir::NodeId id) const;
    /// Rewrites the operands of one node.
    void apply(ir::Function& fn, ir::NodeId node) const;
    /// Rewrites the operands of all nodes that regions list.
    void apply(ir::Function& fn) const;
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

private:
    std::vector<ir::NodeId> to_;
    std::size_t count_ = 0;
};

/// Gives a node other operands; they may be a span of the function's own pool.
void set_args(ir::Function& fn, ir::NodeId node, std::span<const ir::NodeId> args);

/// How often each value is an operand of a node that a region lists.
[[nodiscard]] std::vector<std::uint32_t> count_uses(const ir::Function& fn);

/// The region that lists each node; none for dead ones.
[[nodiscard]] std::vector<ir::RegionId> regions_of_nodes(const ir::Function& fn);

/// The If, For or Loop that owns each region; none for the body and for regions that nothing uses.
[[nodiscard]] std::vector<ir::NodeId> owners_of_regions(const ir::Function& fn);

/// Removes from all regions that are in use the nodes for which dead(id) is true, with all that is inside of
/// them.
template <class Dead>
void erase_nodes(ir::Function& fn, ir::RegionId region, Dead&& dead) {
    std::erase_if(fn.regions[region].nodes, dead);
    for (const ir::NodeId id : fn.regions[region].nodes) {
        for (const ir::RegionId inner : fn.nodes[id].regions) {
            if (inner != ir::none) erase_nodes(fn, inner, dead);
        }
    }
}

/// Whether the last node of the region is a jump, or an If both of whose arms end so: nothing runs after it.
[[nodiscard]] bool ends_in_jump(const ir::Function& fn, ir::RegionId region);

/// Whether the region holds a break or continue of a loop outside of it.
[[nodiscard]] bool jumps_out(const ir::Function& fn, ir::RegionId region);

}  // namespace volley::passes
