// One walk in execution order; a product that becomes part of an fma is removed from its region.
#include "passes/contract_fma.hpp"

#include "passes/rewrite.hpp"

#include <array>

namespace volley::passes {
namespace {

using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

class Contract {
public:
    explicit Contract(Function& fn) : fn_(fn), uses_(count_uses(fn)), region_of_(regions_of_nodes(fn)) {}

    void region(RegionId id) {
        std::vector<NodeId> list;
        list.reserve(fn_.nodes_of(id).size());
        for (std::size_t i = 0; i < fn_.nodes_of(id).size(); ++i) {
            const NodeId node = fn_.nodes_of(id)[i];
            contract(node, id, list);
            list.push_back(node);
            const std::array<RegionId, 2> inner = {fn_[node].regions[0], fn_[node].regions[1]};
            for (const RegionId r : inner) {
                if (r != ir::none) region(r);
            }
        }
        std::erase_if(list,
                      [&](NodeId node) { return node < region_of_.size() && region_of_[node] == ir::none; });
        fn_.regions[id].nodes = std::move(list);
    }

private:
    [[nodiscard]] bool is_product(NodeId id, RegionId region) const {
        return id < uses_.size() && fn_[id].op == Op::Mul && uses_[id] == 1 && region_of_[id] == region;
    }

    NodeId negated(NodeId value, NodeId like, std::vector<NodeId>& list) {
        if (fn_[value].op == Op::Neg) return fn_.arg(value, 0);
        const NodeId id = fn_.add(Op::Neg, fn_.type(value), std::span(&value, 1), 0, fn_[like].loc);
        list.push_back(id);
        return id;
    }

    void contract(NodeId id, RegionId region, std::vector<NodeId>& list) {
        const Op op = fn_[id].op;
        if (op != Op::Add && op != Op::Sub) return;
        const DType type = fn_.type(id);
        if (!(type.is_scalar() || type.is_vector()) || !type.is_float() || type.scalar() == ScalarType::F16)
            return;
        const NodeId a = fn_.arg(id, 0);
        const NodeId b = fn_.arg(id, 1);
        const bool left = is_product(a, region);
        if (!left && !is_product(b, region)) return;

        const NodeId product = left ? a : b;
        std::array<NodeId, 3> args = {fn_.arg(product, 0), fn_.arg(product, 1), left ? b : a};
        if (op == Op::Sub && left) args[2] = negated(args[2], id, list);
        if (op == Op::Sub && !left) args[0] = negated(args[0], id, list);
        fn_[id].op = Op::Fma;
        set_args(fn_, id, args);
        region_of_[product] = ir::none;
    }

    Function& fn_;
    std::vector<std::uint32_t> uses_;
    std::vector<RegionId> region_of_;
};

}  // namespace

void contract_fma(Function& fn) { Contract(fn).region(fn.body); }

}  // namespace volley::passes
