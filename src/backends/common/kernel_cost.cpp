// Weighs the operations of the body; loops multiply what they contain.
#include "backends/common/kernel_cost.hpp"

#include <algorithm>
#include <optional>

namespace volley::backends {
namespace {

double weight(const ir::Function& fn, ir::NodeId id) {
    using ir::Form;
    using ir::Op;
    const ir::Op op = fn[id].op;
    const auto leaves = static_cast<double>(std::max<std::uint64_t>(fn.type(id).leaf_count(), 1));
    switch (ir::form(op)) {
        case Form::Constant:
        case Form::Zero:
        case Form::Parameter:
        case Form::Root:
        case Form::Builtin:
        case Form::Construct:
        case Form::Extract:
        case Form::BufferSize:
        case Form::Bitcast:
        case Form::Jump:
        case Form::If:
        case Form::For:
        case Form::Loop: return 0.25;
        case Form::Load: return fn[fn.arg(id, 0)].op == Op::Var ? 0.25 : 2 * leaves;
        case Form::Store: return fn[fn.arg(id, 0)].op == Op::Var ? 0.25 : 2;
        case Form::Atomic:
        case Form::AtomicCas: return 64;
        case Form::Print: return 4096;
        case Form::Sync: return 4;
        default: break;
    }
    if (op == Op::Div || op == Op::Rem || op == Op::Sqrt || op == Op::Rsqrt) return 6 * leaves;
    if (op >= Op::Sin && op <= Op::Hypot) return 16 * leaves;
    return leaves;
}

std::optional<double> known_trips(const ir::Function& fn, ir::NodeId loop) {
    if (fn[loop].op != ir::Op::For) return std::nullopt;
    const auto begin = fn.constant_int(fn.arg(loop, 0));
    const auto end = fn.constant_int(fn.arg(loop, 1));
    const auto step = fn.constant_int(fn.arg(loop, 2));
    if (!begin || !end || !step || *step == 0) return std::nullopt;
    return std::max(0.0,
                    (static_cast<double>(*end) - static_cast<double>(*begin)) / static_cast<double>(*step));
}

double region_cost(const ir::Function& fn, ir::RegionId region, bool& certain) {
    constexpr double unknown_trips = 1024;
    double sum = 0;
    for (const ir::NodeId id : fn.nodes_of(region)) {
        sum += weight(fn, id);
        const ir::Node& node = fn[id];
        double trips = 1;
        if (node.op == ir::Op::Print) certain = false;
        if (node.op == ir::Op::Loop || node.op == ir::Op::For) {
            const auto known = known_trips(fn, id);
            certain = certain && known.has_value();
            trips = known.value_or(unknown_trips);
        }
        for (const ir::RegionId inner : node.regions) {
            if (inner != ir::none) sum += trips * region_cost(fn, inner, certain);
        }
    }
    return sum;
}

}  // namespace

CostEstimate estimate_cost(const ir::Function& fn, unsigned width) {
    constexpr double ns_per_vector_operation = 0.3;
    CostEstimate estimate;
    // Vectors of more than 8 lanes take several registers on most processors.
    estimate.ns = region_cost(fn, fn.body, estimate.certain) * ns_per_vector_operation / std::min(width, 8u);
    return estimate;
}

}  // namespace volley::backends
