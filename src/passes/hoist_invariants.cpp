// Processes inner loops first, so that hoisted nodes can also leave the enclosing loops.
#include "passes/hoist_invariants.hpp"

#include "passes/effects.hpp"

#include <algorithm>

namespace volley::passes {
namespace {

using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

class Hoist {
public:
    explicit Hoist(Function& fn) : fn_(fn), effects_(effects_of_regions(fn)), inside_(fn.nodes.size(), 0) {}

    void region(RegionId id) {
        std::vector<NodeId> list;
        list.reserve(fn_.nodes_of(id).size());
        const std::vector<NodeId> old = std::move(fn_.regions[id].nodes);
        for (const NodeId node : old) {
            for (const RegionId inner : fn_[node].regions) {
                if (inner != ir::none) region(inner);
            }
            if (fn_[node].op == Op::For || fn_[node].op == Op::Loop) leave_loop(node, list);
            list.push_back(node);
        }
        fn_.regions[id].nodes = std::move(list);
    }

private:
    void leave_loop(NodeId loop, std::vector<NodeId>& list) {
        const RegionId body = fn_[loop].regions[0];
        const Effects& effects = effects_[body];
        if (holds_barrier(body)) return;
        // Marks every node that is defined in the loop.
        ++mark_;
        inside_[loop] = mark_;
        ir::for_each_node(fn_, body, [&](NodeId id) { inside_[id] = mark_; });
        std::vector<NodeId> staying;
        staying.reserve(fn_.nodes_of(body).size());
        for (const NodeId id : fn_.nodes_of(body)) {
            const bool leaves = is_invariant(id, effects);
            if (leaves) inside_[id] = 0;
            (leaves ? list : staying).push_back(id);
        }
        fn_.regions[body].nodes = std::move(staying);
    }

    [[nodiscard]] bool is_invariant(NodeId id, const Effects& effects) const {
        const Op op = fn_[id].op;
        const bool movable = op == Op::Load ? is_unchanged(fn_.arg(id, 0), effects) : ir::traits(op).pure;
        const auto args = fn_.args(id);
        return movable &&
               std::none_of(args.begin(), args.end(), [&](NodeId arg) { return inside_[arg] == mark_; });
    }

    [[nodiscard]] bool is_unchanged(NodeId root, const Effects& effects) const {
        return fn_[root].op == Op::Var &&
               !std::binary_search(effects.written.begin(), effects.written.end(), root);
    }

    [[nodiscard]] bool holds_barrier(RegionId region) const {
        bool any = false;
        ir::for_each_node(fn_, region, [&](NodeId id) { any = any || fn_[id].op == Op::Barrier; });
        return any;
    }

    Function& fn_;
    std::vector<Effects> effects_;
    std::vector<std::uint32_t> inside_;  // per node: the mark of the last loop that contained it
    std::uint32_t mark_ = 0;
};

}  // namespace

void hoist_invariants(Function& fn) { Hoist(fn).region(fn.body); }

}  // namespace volley::passes
