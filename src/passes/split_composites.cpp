// A backward walk decides which operations to split; a forward walk splits them.
#include "passes/split_composites.hpp"

#include "passes/rewrite.hpp"

#include <array>

namespace volley::passes {
namespace {

using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

class Split {
public:
    explicit Split(Function& fn)
        : fn_(fn), used_whole_(fn.nodes.size(), false), split_(fn.nodes.size(), false) {
        decide(fn.body);
    }

    void region(RegionId id) {
        const std::vector<NodeId> old = std::move(fn_.regions[id].nodes);
        std::vector<NodeId> list;
        list.reserve(old.size());
        for (const NodeId node : old) {
            if (split_[node]) split(node, list);
            list.push_back(node);
            const std::array<RegionId, 2> inner = {fn_[node].regions[0], fn_[node].regions[1]};
            for (const RegionId r : inner) {
                if (r != ir::none) region(r);
            }
        }
        fn_.regions[id].nodes = std::move(list);
    }

private:
    // Uses come after definitions, so a backward walk decides all users of a value before the value.
    void decide(RegionId region) {
        const std::vector<NodeId>& nodes = fn_.nodes_of(region);
        for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
            for (const RegionId inner : {fn_[*at].regions[1], fn_[*at].regions[0]}) {
                if (inner != ir::none) decide(inner);
            }
            decide_node(*at);
        }
    }

    void decide_node(NodeId id) {
        const ir::Node& node = fn_[id];
        if (ir::is_elementwise(ir::form(node.op))) {
            split_[id] = node.type.is_complex() || (node.type.is_vector() && !used_whole_[id]);
        }
        const bool takes_apart =
            split_[id] || (node.op == Op::Extract && fn_.constant_int(fn_.arg(id, 1)).has_value());
        if (takes_apart) return;
        for (const NodeId used : fn_.args(id)) used_whole_[used] = true;
    }

    void split(NodeId id, std::vector<NodeId>& list) {
        const ir::Node node = fn_[id];
        const std::vector<NodeId> args(fn_.args(id).begin(), fn_.args(id).end());
        std::array<NodeId, 4> parts = {};
        for (unsigned k = 0; k < node.type.count(); ++k) {
            std::array<NodeId, 3> of_part = {};
            for (std::size_t a = 0; a < args.size(); ++a) of_part[a] = part(args[a], k, node.loc, list);
            parts[k] = fn_.add(node.op, node.type.part(k), std::span(of_part).first(args.size()), node.imm,
                               node.loc);
            list.push_back(parts[k]);
        }
        fn_[id].op = Op::Construct;
        fn_[id].imm = 0;
        set_args(fn_, id, std::span(parts).first(node.type.count()));
    }

    NodeId part(NodeId whole, unsigned k, ir::Loc loc, std::vector<NodeId>& list) {
        if (fn_.type(whole).is_scalar()) return whole;  // the condition of a select
        if (fn_[whole].op == Op::Construct) return fn_.arg(whole, k);
        const NodeId index = fn_.add(Op::Const, ScalarType::U32, {}, k, loc);
        const std::array<NodeId, 2> args = {whole, index};
        const NodeId id = fn_.add(Op::Extract, fn_.type(whole).part(k), args, 0, loc);
        list.push_back(index);
        list.push_back(id);
        return id;
    }

    Function& fn_;
    std::vector<bool> used_whole_;
    std::vector<bool> split_;
};

}  // namespace

void split_composites(Function& fn) { Split(fn).region(fn.body); }

}  // namespace volley::passes
