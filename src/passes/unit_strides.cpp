// Adds one constant per stride type in front of the body's operations and redirects the operands to it.
#include "passes/unit_strides.hpp"

#include <algorithm>

namespace volley::passes {
namespace {

bool is_declaration(ir::Op op) { return op == ir::Op::Buffer || op == ir::Op::Param || op == ir::Op::Shared; }

}  // namespace

bool assume_unit_strides(ir::Function& fn) {
    bool any = false;
    for (const ir::Param& param : fn.params) {
        if (param.kind != ir::ParamKind::Stride || param.axis + 1 != fn.params[param.buffer].rank) continue;
        any = true;
        const ir::NodeId one = fn.add(ir::Op::Const, param.type, {}, 1);
        std::ranges::replace(fn.operands, param.node, one);
        std::vector<ir::NodeId>& nodes = fn.regions[fn.body].nodes;
        const auto first =
            std::ranges::find_if_not(nodes, [&](ir::NodeId id) { return is_declaration(fn[id].op); });
        nodes.insert(first, one);
    }
    return any;
}

}  // namespace volley::passes
