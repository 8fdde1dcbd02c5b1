// Functions shared by the passes that edit a function.
#include "passes/rewrite.hpp"

namespace volley::passes {

using ir::Function;
using ir::NodeId;
using ir::RegionId;

void Replacements::set(NodeId from, NodeId to) {
    if (from == to) return;
    if (from >= to_.size()) to_.resize(from + 1 + from / 2, ir::none);
    to_[from] = to;
    ++count_;
}

NodeId Replacements::of(NodeId id) const {
    while (id < to_.size() && to_[id] != ir::none) id = to_[id];
    return id;
}

void Replacements::apply(Function& fn, NodeId node) const {
    for (NodeId& id : fn.args(node)) id = of(id);
}

void Replacements::apply(Function& fn) const {
    if (empty()) return;
    ir::for_each_node(fn, fn.body, [&](NodeId id) { apply(fn, id); });
}

void set_args(Function& fn, NodeId node, std::span<const NodeId> args) {
    if (args.size() > fn[node].count) {
        const std::vector<NodeId> copy(args.begin(), args.end());
        fn[node].first = static_cast<std::uint32_t>(fn.operands.size());
        fn.operands.insert(fn.operands.end(), copy.begin(), copy.end());
    } else {
        // If the span overlaps its destination it starts at or after it, because operands are only removed; a
        // forward copy is safe.
        NodeId* out = fn.operands.data() + fn[node].first;
        for (const NodeId id : args) *out++ = id;
    }
    fn[node].count = static_cast<std::uint32_t>(args.size());
}

std::vector<std::uint32_t> count_uses(const Function& fn) {
    std::vector<std::uint32_t> uses(fn.nodes.size(), 0);
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        for (const NodeId used : fn.args(id)) ++uses[used];
    });
    return uses;
}

namespace {

void list_regions(const Function& fn, RegionId region, std::vector<RegionId>& of) {
    for (const NodeId id : fn.nodes_of(region)) {
        of[id] = region;
        for (const RegionId inner : fn[id].regions) {
            if (inner != ir::none) list_regions(fn, inner, of);
        }
    }
}

}  // namespace

std::vector<RegionId> regions_of_nodes(const Function& fn) {
    std::vector<RegionId> of(fn.nodes.size(), ir::none);
    list_regions(fn, fn.body, of);
    return of;
}

std::vector<NodeId> owners_of_regions(const Function& fn) {
    std::vector<NodeId> owners(fn.regions.size(), ir::none);
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        for (const RegionId inner : fn[id].regions) {
            if (inner != ir::none) owners[inner] = id;
        }
    });
    return owners;
}

bool ends_in_jump(const Function& fn, RegionId region) {
    if (region == ir::none || fn.nodes_of(region).empty()) return false;
    const ir::Node& last = fn[fn.nodes_of(region).back()];
    if (ir::form(last.op) == ir::Form::Jump) return true;
    return last.op == ir::Op::If && ends_in_jump(fn, last.regions[0]) && ends_in_jump(fn, last.regions[1]);
}

bool jumps_out(const Function& fn, RegionId region) {
    if (region == ir::none) return false;
    for (const NodeId id : fn.nodes_of(region)) {
        const ir::Node& node = fn[id];
        if (node.op == ir::Op::Break || node.op == ir::Op::Continue) return true;
        // Jumps in an inner loop belong to that loop.
        if (node.op == ir::Op::If && (jumps_out(fn, node.regions[0]) || jumps_out(fn, node.regions[1])))
            return true;
    }
    return false;
}

}  // namespace volley::passes
