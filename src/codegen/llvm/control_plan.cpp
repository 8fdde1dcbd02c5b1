// Iterates to a fixed point: a masked jump makes its loop divergent, which masks the jumps inside that loop.
#include "codegen/llvm/control_plan.hpp"

namespace volley::codegen::llvm {
namespace {

using ir::NodeId;
using ir::Op;
using ir::RegionId;

class Planner {
public:
    Planner(const ir::Function& fn, const std::function<bool(NodeId)>& uniform) : fn_(fn), uniform_(uniform) {
        plan_.divergent.resize(fn.nodes.size());
        plan_.kills.resize(fn.nodes.size());
        plan_.masked_continue.resize(fn.nodes.size());
    }

    ControlPlan run() {
        do {
            changed_ = false;
            region(fn_.body, false);
        } while (changed_);
        return std::move(plan_);
    }

private:
    void mark(std::vector<bool>& set, NodeId id) {
        if (!set[id]) {
            set[id] = true;
            changed_ = true;
        }
    }

    // `diverged`: some lanes that entered the kernel may be inactive here, not counting lanes past the grid's
    // edge.
    void region(RegionId r, bool diverged) {
        for (const NodeId id : fn_.nodes_of(r)) {
            const ir::Node& node = fn_[id];
            switch (node.op) {
                case Op::If: {
                    if (!uniform_(fn_.arg(id, 0))) mark(plan_.divergent, id);
                    stack_.push_back(id);
                    const bool inside = diverged || plan_.divergent[id];
                    for (const RegionId side : node.regions) {
                        if (side != ir::none) region(side, inside);
                    }
                    stack_.pop_back();
                    break;
                }
                case Op::For:
                case Op::Loop: {
                    if (node.op == Op::For) {
                        for (const NodeId bound : fn_.args(id)) {
                            if (!uniform_(bound)) mark(plan_.divergent, id);
                        }
                    }
                    stack_.push_back(id);
                    region(node.regions[0], diverged || plan_.divergent[id]);
                    stack_.pop_back();
                    break;
                }
                case Op::Break:
                case Op::Continue: jump(node.op); break;
                case Op::Return:
                    if (diverged) {
                        for (const NodeId owner : stack_) {
                            mark(plan_.kills, owner);
                            if (fn_[owner].op != Op::If) mark(plan_.divergent, owner);
                        }
                    }
                    break;
                default: break;
            }
            if (plan_.kills[id]) diverged = true;
        }
    }

    void jump(Op op) {
        bool masked = false;
        std::size_t loop = stack_.size();
        while (fn_[stack_[loop - 1]].op == Op::If) {
            --loop;
            masked = masked || plan_.divergent[stack_[loop]];
        }
        const NodeId owner = stack_[loop - 1];
        if (!masked && !plan_.divergent[owner]) return;
        mark(plan_.divergent, owner);
        if (op == Op::Continue) mark(plan_.masked_continue, owner);
        for (std::size_t i = loop; i < stack_.size(); ++i) mark(plan_.kills, stack_[i]);
    }

    const ir::Function& fn_;
    const std::function<bool(NodeId)>& uniform_;
    ControlPlan plan_;
    std::vector<NodeId> stack_;
    bool changed_ = false;
};

}  // namespace

ControlPlan plan_control(const ir::Function& fn, const std::function<bool(NodeId)>& uniform) {
    return Planner(fn, uniform).run();
}

}  // namespace volley::codegen::llvm
