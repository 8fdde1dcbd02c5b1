// One walk in execution order that rebuilds the node list of each region; the operands of a node are
// simplified before the node.
#include "passes/fold_constants.hpp"

#include "passes/eval.hpp"
#include "passes/rewrite.hpp"
#include "passes/simplify.hpp"

#include <utility>

namespace volley::passes {
namespace {

using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

class Folder {
public:
    explicit Folder(Function& fn) : fn_(fn), simplifier_(fn) {}

    void region(RegionId id) {
        const std::vector<NodeId> old = take(id);
        List list;
        list.nodes.reserve(old.size());
        splice(old, list);
        fn_.regions[id].nodes = std::move(list.nodes);
        if (outer_ != nullptr) simplifier_.emit_into(outer_->nodes);
    }

private:
    // The node list of a region while it is rebuilt. Nothing is added after a jump.
    struct List {
        std::vector<NodeId> nodes;
        bool ended = false;
    };

    // Moves the node list out of the region.
    std::vector<NodeId> take(RegionId id) { return std::exchange(fn_.regions[id].nodes, {}); }

    void splice(const std::vector<NodeId>& nodes, List& list) {
        List* const before = outer_;
        outer_ = &list;
        simplifier_.emit_into(list.nodes);
        for (const NodeId id : nodes) {
            if (list.ended) break;
            visit(id, list);
        }
        outer_ = before;
    }

    void visit(NodeId id, List& list) {
        replaced_.apply(fn_, id);
        switch (fn_[id].op) {
            case Op::If: return visit_if(id, list);
            case Op::For: return visit_for(id, list);
            case Op::Loop:
                region(fn_[id].regions[0]);
                list.nodes.push_back(id);
                return;
            default: break;
        }
        const NodeId result = simplifier_.simplify(id);
        if (result != id) {
            replaced_.set(id, result);
            return;
        }
        list.nodes.push_back(id);
        list.ended = ir::form(fn_[id].op) == ir::Form::Jump;
    }

    void visit_if(NodeId id, List& list) {
        if (const auto condition = fn_.constant_int(fn_.arg(id, 0))) {
            const RegionId taken = fn_[id].regions[*condition != 0 ? 0 : 1];
            if (taken != ir::none) splice(take(taken), list);
            return;
        }
        const RegionId then_arm = fn_[id].regions[0];
        const RegionId else_arm = fn_[id].regions[1];
        region(then_arm);
        if (else_arm != ir::none) region(else_arm);
        list.nodes.push_back(id);
        list.ended = ends_in_jump(fn_, then_arm) && ends_in_jump(fn_, else_arm);
    }

    void visit_for(NodeId id, List& list) {
        const RegionId body = fn_[id].regions[0];
        const NodeId begin = fn_.arg(id, 0);
        const NodeId end = fn_.arg(id, 1);
        const auto b = fn_.constant_int(begin);
        const auto e = fn_.constant_int(end);
        const auto s = fn_.constant_int(fn_.arg(id, 2));
        if (begin == end || (s && *s == 0)) return;
        if (b && e && s) {
            const std::uint64_t trips =
                trip_count(fn_.type(id).scalar(), static_cast<std::uint64_t>(*b),
                           static_cast<std::uint64_t>(*e), static_cast<std::uint64_t>(*s));
            if (trips == 0) return;
            if (trips == 1 && !jumps_out(fn_, body)) {
                replaced_.set(id, begin);
                splice(take(body), list);
                return;
            }
        }
        region(body);
        list.nodes.push_back(id);
    }

    Function& fn_;
    Simplifier simplifier_;
    Replacements replaced_;
    List* outer_ = nullptr;
};

}  // namespace

void fold_constants(Function& fn) { Folder(fn).region(fn.body); }

}  // namespace volley::passes
