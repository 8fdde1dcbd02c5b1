// Works from the outside in: splits a branch at the limit into pieces (plain operations, or one inner
// construct each) that replace the If. This raises inner Ifs by one level; they are split in turn.
#include "passes/lower_nesting.hpp"

#include "passes/rewrite.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace volley::passes {
namespace {

using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

unsigned depth_of(const Function& fn, RegionId region) {
    unsigned most = 0;
    for (const NodeId id : fn.nodes_of(region)) {
        const unsigned own = fn[id].op == Op::If ? 1 : 0;
        for (const RegionId inner : fn[id].regions) {
            if (inner != ir::none) most = std::max(most, own + depth_of(fn, inner));
        }
    }
    return most;
}

class LowerNesting {
public:
    explicit LowerNesting(Function& fn) : fn_(fn) {}

    // `left` is the number of levels of Ifs that the region may still contain.
    void region(RegionId region, unsigned left) {
        std::vector<NodeId> todo = std::move(fn_.regions[region].nodes);
        std::vector<NodeId> done;
        done.reserve(todo.size());
        std::reverse(todo.begin(), todo.end());
        while (!todo.empty()) {
            const NodeId id = todo.back();
            todo.pop_back();
            const bool is_if = fn_[id].op == Op::If;
            if (is_if && left == 1 && holds_if(id)) {
                std::vector<NodeId> pieces;
                cut(id, pieces);
                todo.insert(todo.end(), pieces.rbegin(), pieces.rend());
                continue;
            }
            done.push_back(id);
            const std::array<RegionId, 2> inner = {fn_[id].regions[0], fn_[id].regions[1]};
            for (const RegionId r : inner) {
                if (r != ir::none) this->region(r, is_if ? left - 1 : left);
            }
        }
        fn_.regions[region].nodes = std::move(done);
    }

private:
    [[nodiscard]] bool holds_if(NodeId id) const {
        for (const RegionId inner : fn_[id].regions) {
            if (inner != ir::none && depth_of(fn_, inner) > 0) return true;
        }
        return false;
    }

    NodeId make(Op op, DType type, std::initializer_list<NodeId> args, NodeId like) {
        return fn_.add(op, type, std::span(args.begin(), args.size()), 0, fn_[like].loc);
    }

    // Emits the pieces of both branches in execution order.
    void cut(NodeId id, std::vector<NodeId>& out) {
        const NodeId condition = fn_.arg(id, 0);
        const std::array<RegionId, 2> arms = {fn_[id].regions[0], fn_[id].regions[1]};
        cut_arm(id, condition, arms[0], out);
        if (arms[1] == ir::none) return;
        const NodeId other = make(Op::Not, ScalarType::Bool, {condition}, id);
        out.push_back(other);
        cut_arm(id, other, arms[1], out);
    }

    void cut_arm(NodeId like, NodeId condition, RegionId arm, std::vector<NodeId>& out) {
        const std::vector<NodeId> nodes = fn_.nodes_of(arm);
        const std::size_t head = out.size();
        std::vector<NodeId> variables;  // declared before all pieces
        variables_.clear();
        std::size_t at = 0;
        while (at < nodes.size()) {
            std::size_t end = at;
            while (end < nodes.size() && !has_regions(nodes[end])) ++end;
            if (end > at) {
                plain(like, condition, std::span(nodes).subspan(at, end - at), nodes, end, variables, out);
                at = end;
                continue;
            }
            construct(condition, nodes[at], out);
            ++at;
        }
        out.insert(out.begin() + static_cast<std::ptrdiff_t>(head), variables.begin(), variables.end());
    }

    [[nodiscard]] bool has_regions(NodeId id) const { return fn_[id].regions[0] != ir::none; }

    // Emits plain operations in an If of their own; values that later pieces use are stored in variables.
    void plain(NodeId like, NodeId condition, std::span<const NodeId> piece, std::span<const NodeId> all,
               std::size_t end, std::vector<NodeId>& variables, std::vector<NodeId>& out) {
        std::vector<NodeId> inside;
        for (const NodeId id : piece) reload(id, out);
        for (const NodeId id : piece) {
            if (fn_[id].op == Op::Var) {
                variables.push_back(id);
                continue;
            }
            inside.push_back(id);
            if (fn_.type(id).is_void() || !used_in(all.subspan(end), id)) continue;
            const NodeId variable = make(Op::Var, fn_.type(id), {}, id);
            variables.push_back(variable);
            inside.push_back(make(Op::Store, {}, {variable, id}, id));
            variables_[id] = variable;
        }
        const NodeId guard = make(Op::If, {}, {condition}, like);
        const RegionId arm = fn_.add_region();
        fn_.regions[arm].nodes = std::move(inside);
        fn_[guard].regions[0] = arm;
        out.push_back(guard);
    }

    // Raises an If with the conjunction of both conditions; a For runs no iteration and a Loop ends at once
    // if the condition is false.
    void construct(NodeId condition, NodeId id, std::vector<NodeId>& out) {
        reload(id, out);
        switch (fn_[id].op) {
            case Op::If: {
                const NodeId own = fn_.arg(id, 0);
                const RegionId other = fn_[id].regions[1];
                if (other != ir::none) {
                    const NodeId negated = make(Op::Not, ScalarType::Bool, {own}, id);
                    const NodeId both = make(Op::And, ScalarType::Bool, {condition, negated}, id);
                    const NodeId second = make(Op::If, {}, {both}, id);
                    fn_[second].regions[0] = other;
                    fn_[id].regions[1] = ir::none;
                    out.insert(out.end(), {negated, both});
                    first_arm(condition, own, id, out);
                    out.push_back(second);
                } else {
                    first_arm(condition, own, id, out);
                }
                return;
            }
            case Op::For: {
                const NodeId begin = fn_.arg(id, 0);
                const NodeId end = make(Op::Select, fn_.type(begin), {condition, fn_.arg(id, 1), begin}, id);
                out.push_back(end);
                fn_.args(id)[1] = end;
                out.push_back(id);
                return;
            }
            default: {
                const NodeId none = make(Op::Not, ScalarType::Bool, {condition}, id);
                const NodeId guard = make(Op::If, {}, {none}, id);
                const RegionId arm = fn_.add_region();
                fn_.regions[arm].nodes = {make(Op::Break, {}, {}, id)};
                fn_[guard].regions[0] = arm;
                std::vector<NodeId>& body = fn_.regions[fn_[id].regions[0]].nodes;
                body.insert(body.begin(), guard);
                out.insert(out.end(), {none, id});
            }
        }
    }

    void first_arm(NodeId condition, NodeId own, NodeId id, std::vector<NodeId>& out) {
        const NodeId both = make(Op::And, ScalarType::Bool, {condition, own}, id);
        fn_.args(id)[0] = both;
        out.insert(out.end(), {both, id});
    }

    // Emits loads, before the node, of the values that it or its regions use and that are now in variables.
    void reload(NodeId id, std::vector<NodeId>& out) {
        std::unordered_map<NodeId, NodeId> loaded;
        reload_in(id, loaded, out);
    }

    void reload_in(NodeId id, std::unordered_map<NodeId, NodeId>& loaded, std::vector<NodeId>& out) {
        for (std::uint32_t k = 0; k < fn_[id].count; ++k) {
            const NodeId used = fn_.arg(id, k);
            const auto variable = variables_.find(used);
            if (variable == variables_.end()) continue;
            const auto [entry, fresh] = loaded.try_emplace(used, ir::none);
            if (fresh) {
                entry->second = make(Op::Load, fn_.type(used), {variable->second}, used);
                out.push_back(entry->second);
            }
            fn_.args(id)[k] = entry->second;
        }
        const std::array<RegionId, 2> inner = {fn_[id].regions[0], fn_[id].regions[1]};
        for (const RegionId region : inner) {
            if (region == ir::none) continue;
            for (const NodeId node : fn_.nodes_of(region)) reload_in(node, loaded, out);
        }
    }

    [[nodiscard]] bool used_in(std::span<const NodeId> nodes, NodeId value) const {
        return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
            const auto args = fn_.args(id);
            if (std::find(args.begin(), args.end(), value) != args.end()) return true;
            for (const RegionId inner : fn_[id].regions) {
                if (inner != ir::none && used_in(fn_.nodes_of(inner), value)) return true;
            }
            return false;
        });
    }

    Function& fn_;
    std::unordered_map<NodeId, NodeId> variables_;  // of the branch being split: value -> variable
};

}  // namespace

unsigned nesting(const Function& fn) { return depth_of(fn, fn.body); }

void lower_nesting(Function& fn, unsigned limit) {
    if (nesting(fn) > limit) LowerNesting(fn).region(fn.body, limit);
}

}  // namespace volley::passes
