// Walks the region tree until nothing changes. Each walk carries the cause of divergent control flow (or
// none); a jump in divergent control flow makes the code after it, up to its target, divergent as well.
#include "passes/uniformity.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::passes {

using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

class UniformityAnalysis {
public:
    explicit UniformityAnalysis(const Function& fn) : fn_(fn) {
        result_.varying_.assign(fn.nodes.size(), false);
        result_.node_cause_.assign(fn.nodes.size(), ir::none);
        result_.region_cause_.assign(fn.regions.size(), ir::none);
        result_.loop_cause_.assign(fn.nodes.size(), ir::none);
        do {
            changed_ = false;
            walk(fn.body, ir::none);
        } while (changed_);
    }

    Uniformity take() { return std::move(result_); }

private:
    // The jump nodes in divergent control flow, by kind.
    struct Jumps {
        NodeId to_next = ir::none;  // continue
        NodeId to_end = ir::none;   // break
        NodeId out = ir::none;      // return

        [[nodiscard]] NodeId any() const {
            return out != ir::none ? out : to_end != ir::none ? to_end : to_next;
        }
        void add(const Jumps& other) {
            if (to_next == ir::none) to_next = other.to_next;
            if (to_end == ir::none) to_end = other.to_end;
            if (out == ir::none) out = other.out;
        }
    };

    // `cause` is the node that makes control flow divergent here; none if all invocations of the workgroup
    // run together.
    Jumps walk(RegionId region, NodeId cause) {
        set(result_.region_cause_[region], cause);
        Jumps jumps;
        for (const NodeId id : fn_.nodes_of(region)) {
            set(result_.node_cause_[id], cause);
            const Jumps inner = visit(id, cause);
            jumps.add(inner);
            if (cause == ir::none) cause = inner.any();
        }
        return jumps;
    }

    Jumps visit(NodeId id, NodeId cause) {
        const ir::Node& node = fn_[id];
        switch (ir::form(node.op)) {
            case Form::If: return visit_if(id, cause);
            case Form::For:
            case Form::Loop: return visit_loop(id, cause);
            case Form::Jump: return visit_jump(id, cause);
            case Form::Store: visit_store(id, cause); return {};
            default: break;
        }
        if (is_varying(id)) set_varying(id);
        return {};
    }

    Jumps visit_if(NodeId id, NodeId cause) {
        const ir::Node& node = fn_[id];
        const NodeId inside = cause != ir::none ? cause : varying(fn_.arg(id, 0)) ? id : ir::none;
        Jumps jumps = walk(node.regions[0], inside);
        if (node.regions[1] != ir::none) jumps.add(walk(node.regions[1], inside));
        return jumps;
    }

    Jumps visit_loop(NodeId id, NodeId cause) {
        const ir::Node& node = fn_[id];
        bool bounds = false;
        for (const NodeId used : fn_.args(id)) bounds |= varying(used);
        if (bounds) set(result_.loop_cause_[id], id);
        // After the first invocation leaves the loop, every later iteration is divergent.
        const NodeId inside = cause != ir::none ? cause : result_.loop_cause_[id];
        const Jumps jumps = walk(node.regions[0], inside);
        const NodeId leaves = jumps.to_end != ir::none ? jumps.to_end : jumps.out;
        // In a divergent loop a jump may still be uniform among the remaining invocations; this is not
        // analysed.
        if (leaves != ir::none) set(result_.loop_cause_[id], leaves);
        if (node.op == Op::For && (bounds || leaves != ir::none)) set_varying(id);
        Jumps out;
        out.out = jumps.out;  // break and continue end at this loop
        return out;
    }

    Jumps visit_jump(NodeId id, NodeId cause) {
        Jumps jumps;
        if (cause == ir::none) return jumps;
        switch (fn_[id].op) {
            case Op::Continue: jumps.to_next = cause; break;
            case Op::Break: jumps.to_end = cause; break;
            default:
                jumps.out = cause;
                result_.divergent_return_ = true;
                break;
        }
        return jumps;
    }

    void visit_store(NodeId id, NodeId cause) {
        const NodeId root = fn_.arg(id, 0);
        if (fn_[root].op != Op::Var) return;
        bool any = cause != ir::none;
        for (const NodeId used : fn_.args(id).subspan(1)) any |= varying(used);
        if (any) set_varying(root);
    }

    [[nodiscard]] bool is_varying(NodeId id) const {
        const ir::Node& node = fn_[id];
        switch (ir::form(node.op)) {
            case Form::Constant:
            case Form::Zero:
            case Form::Parameter:
            case Form::Root:
            case Form::BufferSize: return varying(id);
            case Form::Builtin:
                switch (node.op) {
                    case Op::GroupId:
                    case Op::GlobalSize:
                    case Op::LocalSize:
                    case Op::GroupCount:
                    case Op::SubgroupCount:
                    case Op::SubgroupSize: return false;
                    default: return true;
                }
            case Form::Atomic:
            case Form::AtomicCas:
            case Form::SubgroupFold:
            case Form::SubgroupLane:
            case Form::SubgroupVote:
            case Form::Ballot:
            case Form::Elect: return true;
            default: break;
        }
        // Pure operations and loads; the root of a load is varying if it is a variable with different values.
        for (const NodeId used : fn_.args(id)) {
            if (varying(used)) return true;
        }
        return false;
    }

    [[nodiscard]] bool varying(NodeId id) const { return result_.varying_[id]; }
    void set_varying(NodeId id) {
        changed_ |= !result_.varying_[id];
        result_.varying_[id] = true;
    }
    void set(NodeId& slot, NodeId cause) {
        if (slot != ir::none || cause == ir::none) return;
        slot = cause;
        changed_ = true;
    }

    const Function& fn_;
    Uniformity result_;
    bool changed_ = false;
};

Uniformity analyse_uniformity(const Function& fn) { return UniformityAnalysis(fn).take(); }

namespace {

std::string place(const Function& fn, NodeId id) {
    const std::string where = fn.where(fn[id].loc);
    return where.empty() ? std::string("an unknown line") : where;
}

std::string describe(const Function& fn, NodeId cause) {
    switch (fn[cause].op) {
        case Op::If: return cat("the condition at ", place(fn, cause), " differs between invocations");
        case Op::For:
            return cat("the bounds of the loop at ", place(fn, cause), " differ between invocations");
        default:
            return cat("the '", ir::mnemonic(fn[cause].op), "' at ", place(fn, cause),
                       " is not taken by all invocations");
    }
}

}  // namespace

void check_barriers(const Function& fn, const Uniformity& uniformity) {
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        if (fn[id].op != Op::Barrier || !uniformity.divergent(id)) return;
        fail(ErrorCode::IrError, "a barrier is not reached by all invocations of a workgroup",
             cat("kernel '", fn.name, "', barrier at ", place(fn, id), ": ",
                 describe(fn, uniformity.cause(id))),
             "move the barrier out of the $if or loop, or make the condition uniform over the workgroup");
    });
}

}  // namespace volley::passes
