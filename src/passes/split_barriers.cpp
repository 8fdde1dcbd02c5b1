// Three steps: decides which nodes run at group level, splits the rest into segments, and finds the values
// that are live across segments.
#include "passes/split_barriers.hpp"

#include <algorithm>

namespace volley::passes {

using ir::NodeId;
using ir::Op;
using ir::RegionId;

bool has_barrier(const ir::Function& fn) {
    bool found = false;
    ir::for_each_node(fn, fn.body, [&](NodeId id) { found = found || fn[id].op == Op::Barrier; });
    return found;
}

namespace {

bool is_var_access(const ir::Function& fn, NodeId id) {
    return (fn[id].op == Op::Load || fn[id].op == Op::Store) && fn[fn.arg(id, 0)].op == Op::Var;
}

bool is_expensive(Op op) { return op == Op::Div || op == Op::Rem || (op >= Op::Sqrt && op <= Op::Hypot); }

}  // namespace

class SegmentPlanner {
public:
    SegmentPlanner(const ir::Function& fn, const Uniformity& uniformity)
        : fn_(fn),
          uniformity_(uniformity),
          group_control_(fn.nodes.size()),
          group_node_(fn.nodes.size()),
          direct_(fn.nodes.size()),
          segment_of_(fn.nodes.size(), no_segment) {}

    SegmentPlan run() {
        find_group_control(fn_.body);
        mark_direct(fn_.body);
        find_group_values();
        walk(fn_.body, plan_.body);
        flush(plan_.body);
        connect();
        return std::move(plan_);
    }

private:
    static constexpr std::size_t no_segment = ~std::size_t{0};

    // The contents of a control node: a barrier, or a jump out of it that all invocations take together.
    struct Found {
        bool barrier = false;
        bool break_out = false;  // a uniform break or continue to an enclosing loop
        bool return_out = false;
    };
    Found find_group_control(RegionId region) {
        Found here;
        for (const NodeId id : fn_.nodes_of(region)) {
            const ir::Node& node = fn_[id];
            if (node.op == Op::Barrier) here.barrier = true;
            const bool together = !uniformity_.divergent(id);
            if (node.op == Op::Return && together) here.return_out = true;
            if ((node.op == Op::Break || node.op == Op::Continue) && together) here.break_out = true;
            Found inside;
            for (const RegionId r : node.regions) {
                if (r == ir::none) continue;
                const Found f = find_group_control(r);
                inside.barrier |= f.barrier;
                inside.break_out |= f.break_out;
                inside.return_out |= f.return_out;
            }
            const bool loop = node.op == Op::For || node.op == Op::Loop;
            if (loop) inside.break_out = false;
            group_control_[id] = inside.barrier || inside.break_out || inside.return_out;
            here.barrier |= inside.barrier;
            here.break_out |= inside.break_out;
            here.return_out |= inside.return_out;
        }
        return here;
    }

    // Marks nodes that are directly in a group-level region: the body, or a region of group-level control.
    void mark_direct(RegionId region) {
        for (const NodeId id : fn_.nodes_of(region)) {
            direct_[id] = true;
            if (!group_control_[id]) continue;
            for (const RegionId r : fn_[id].regions) {
                if (r != ir::none) mark_direct(r);
            }
        }
    }

    // Finds uniform values and variables that can be stored once per group, as a greatest fixpoint.
    void find_group_values() {
        ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
            group_node_[id] = direct_[id] && uniformity_.uniform(id) && may_be_group_node(id);
            if (fn_[id].op == Op::Var && uniformity_.uniform(id) && direct_[id])
                plan_.group_variables_.insert(id);
        });
        bool changed = true;
        while (changed) {
            changed = false;
            ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
                const ir::Node& node = fn_[id];
                if (node.op == Op::Store && fn_[fn_.arg(id, 0)].op == Op::Var) {
                    const NodeId var = fn_.arg(id, 0);
                    bool keeps = direct_[id] && !uniformity_.divergent(id);
                    for (const NodeId arg : fn_.args(id).subspan(1)) keeps = keeps && group_node_[arg];
                    if (!keeps && plan_.group_variables_.erase(var) != 0) changed = true;
                    return;
                }
                if (!group_node_[id]) return;
                bool keeps = true;
                std::span<const NodeId> args = fn_.args(id);
                if (node.op == Op::Load && fn_[args[0]].op == Op::Var) {
                    keeps = plan_.group_variables_.contains(args[0]);
                }
                if (node.op == Op::Load || node.op == Op::BufferSize) args = args.subspan(1);
                if (node.op != Op::For) {
                    for (const NodeId arg : args) keeps = keeps && group_node_[arg];
                }
                if (!keeps) {
                    group_node_[id] = false;
                    changed = true;
                }
            });
        }
    }

    bool may_be_group_node(NodeId id) const {
        const Op op = fn_[id].op;
        switch (ir::form(op)) {
            case ir::Form::Root: return op != Op::Var;
            case ir::Form::Parameter:
            case ir::Form::BufferSize:
            case ir::Form::Load: return true;
            case ir::Form::For: return group_control_[id];  // its index
            case ir::Form::Builtin:
                return op != Op::GlobalId && op != Op::LocalId && op != Op::LocalIndex &&
                       op != Op::SubgroupId && op != Op::SubgroupLane;
            default: return ir::traits(op).pure;
        }
    }

    void walk(RegionId region, GroupRegion& out) {
        for (const NodeId id : fn_.nodes_of(region)) {
            const ir::Node& node = fn_[id];
            if (node.op == Op::Barrier) {
                flush(out);
            } else if (group_control_[id]) {
                flush(out);
                GroupItem item{.kind = GroupItem::Control, .node = id, .inside = {}};
                for (const RegionId r : node.regions) {
                    item.inside.emplace_back();
                    if (r == ir::none) continue;
                    walk(r, item.inside.back());
                    flush(item.inside.back());
                }
                out.items.push_back(std::move(item));
            } else if (ir::form(node.op) == ir::Form::Jump) {
                flush(out);
                out.items.push_back({.kind = GroupItem::Jump, .node = id, .inside = {}});
            } else if (group_node_[id] || is_group_store(id) ||
                       (node.op == Op::Var && plan_.group_variable(id))) {
                // A uniform load must see the earlier writes of this group.
                const bool reads = node.op == Op::Load && !is_var_access(fn_, id);
                if (reads && open_writes_) flush(out);
                out.items.push_back({.kind = GroupItem::Node, .node = id, .inside = {}});
            } else {
                push(id);
            }
        }
    }

    bool is_group_store(NodeId id) const {
        return fn_[id].op == Op::Store && is_var_access(fn_, id) && plan_.group_variable(fn_.arg(id, 0));
    }

    void push(NodeId id) {
        open_.push_back(id);
        assign(id);
    }

    void assign(NodeId id) {
        segment_of_[id] = plan_.segments.size();
        const ir::Traits t = ir::traits(fn_[id].op);
        if (t.writes && !is_var_access(fn_, id)) open_writes_ = true;
        if (ir::form(fn_[id].op) == ir::Form::Jump) note_masked_jump(id);
        for (const RegionId r : fn_[id].regions) {
            if (r == ir::none) continue;
            for (const NodeId inner : fn_.nodes_of(r)) assign(inner);
        }
    }

    // Records a jump that leaves its segment: masks must be kept from segment to segment.
    void note_masked_jump(NodeId id) {
        if (fn_[id].op == Op::Return) {
            plan_.masks = true;
            return;
        }
        NodeId loop = enclosing_loop(id);
        if (loop != ir::none && group_control_[loop]) {
            plan_.masks = true;
            if (std::find(plan_.masked_loops.begin(), plan_.masked_loops.end(), loop) ==
                plan_.masked_loops.end()) {
                plan_.masked_loops.push_back(loop);
            }
        }
    }

    NodeId enclosing_loop(NodeId jump) {
        if (loop_of_.empty()) index_loops(fn_.body, ir::none);
        const auto found = loop_of_.find(jump);
        return found == loop_of_.end() ? ir::none : found->second;
    }

    void index_loops(RegionId region, NodeId loop) {
        for (const NodeId id : fn_.nodes_of(region)) {
            if (fn_[id].op == Op::Break || fn_[id].op == Op::Continue) loop_of_[id] = loop;
            const bool is_loop = fn_[id].op == Op::For || fn_[id].op == Op::Loop;
            for (const RegionId r : fn_[id].regions) {
                if (r != ir::none) index_loops(r, is_loop ? id : loop);
            }
        }
    }

    void flush(GroupRegion& out) {
        if (open_.empty()) return;
        out.items.push_back({.kind = GroupItem::Run, .segment = plan_.segments.size(), .inside = {}});
        plan_.segments.push_back({.nodes = std::move(open_)});
        open_.clear();
        open_writes_ = false;
    }

    bool recomputable(NodeId id, unsigned& budget) const {
        if (group_node_[id]) return true;
        const ir::Node& node = fn_[id];
        if (budget == 0 || is_expensive(node.op) || !ir::traits(node.op).pure) return false;
        if (ir::form(node.op) == ir::Form::BufferSize) return false;
        --budget;
        for (const NodeId arg : fn_.args(id)) {
            if (!recomputable(arg, budget)) return false;
        }
        return true;
    }

    void recompute_into(Segment& segment, NodeId id) const {
        if (group_node_[id]) return;
        if (std::find(segment.recompute.begin(), segment.recompute.end(), id) != segment.recompute.end())
            return;
        for (const NodeId arg : fn_.args(id)) recompute_into(segment, arg);
        segment.recompute.push_back(id);
    }

    void spill(NodeId id) {
        if (std::find(plan_.spilled.begin(), plan_.spilled.end(), id) != plan_.spilled.end()) return;
        plan_.spilled.push_back(id);
        plan_.segments[segment_of_[id]].save.push_back(id);
    }

    void need(Segment& segment, NodeId value) {
        unsigned budget = 8;
        if (recomputable(value, budget)) {
            recompute_into(segment, value);
        } else {
            spill(value);
            if (std::find(segment.reload.begin(), segment.reload.end(), value) == segment.reload.end()) {
                segment.reload.push_back(value);
            }
        }
    }

    void connect_uses(std::size_t index, NodeId user) {
        for (const NodeId arg : fn_.args(user)) {
            const std::size_t from = segment_of_[arg];
            if (from != no_segment && from != index && fn_[arg].op != Op::Var)
                need(plan_.segments[index], arg);
        }
        if (is_var_access(fn_, user)) touch(index, fn_.arg(user, 0), fn_[user].op == Op::Store);
        if (fn_[user].op == Op::Var) touch(index, user, true);
        for (const RegionId r : fn_[user].regions) {
            if (r == ir::none) continue;
            for (const NodeId inner : fn_.nodes_of(r)) connect_uses(index, inner);
        }
    }

    void touch(std::size_t index, NodeId var, bool writes) {
        if (plan_.group_variable(var)) return;
        touched_[var].insert(index);
        Segment& s = plan_.segments[index];
        if (std::find(s.variables.begin(), s.variables.end(), var) == s.variables.end())
            s.variables.push_back(var);
        if (writes && std::find(s.written.begin(), s.written.end(), var) == s.written.end())
            s.written.push_back(var);
    }

    void connect_items(GroupRegion& region) {
        for (GroupItem& item : region.items) {
            if (item.kind == GroupItem::Control) {
                for (const NodeId arg : fn_.args(item.node)) {
                    if (segment_of_[arg] == no_segment) continue;
                    spill(arg);
                    item.reload.push_back(arg);
                }
                for (GroupRegion& inside : item.inside) connect_items(inside);
            }
        }
    }

    void connect() {
        for (std::size_t i = 0; i < plan_.segments.size(); ++i) {
            const std::vector<NodeId> nodes = plan_.segments[i].nodes;
            for (const NodeId id : nodes) connect_uses(i, id);
        }
        connect_items(plan_.body);
        for (const auto& [var, where] : touched_) {
            if (where.size() > 1) plan_.spilled_variables_.insert(var);
        }
        const auto keep_spilled = [&](std::vector<NodeId>& vars) {
            std::erase_if(vars, [&](NodeId v) { return !plan_.spilled_variable(v); });
        };
        for (Segment& s : plan_.segments) {
            keep_spilled(s.variables);
            keep_spilled(s.written);
        }
    }

    const ir::Function& fn_;
    const Uniformity& uniformity_;
    std::vector<bool> group_control_;
    std::vector<bool> group_node_;
    std::vector<bool> direct_;
    std::vector<std::size_t> segment_of_;
    std::unordered_map<NodeId, NodeId> loop_of_;
    std::unordered_map<NodeId, std::unordered_set<std::size_t>> touched_;
    SegmentPlan plan_;
    std::vector<NodeId> open_;
    bool open_writes_ = false;
};

SegmentPlan split_barriers(const ir::Function& fn, const Uniformity& uniformity) {
    return SegmentPlanner(fn, uniformity).run();
}

}  // namespace volley::passes
