// The interior of a grid. Conditions such as `i > 0` and `i + 1 < n` compare an index with a bound, and hold
// in all lanes of most vectors. The body is emitted twice: without masks for vectors in which all of these
// conditions hold, which two scalar comparisons show, and for all others.
#include "codegen/llvm/kernel_emitter.hpp"

#include <algorithm>

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;
using passes::LaneShape;

namespace {

constexpr std::size_t most_nodes = 200;  // of a body that is emitted twice

bool is_integer_comparison(const ir::Function& fn, NodeId id) {
    const Op op = fn[id].op;
    const bool order = op == Op::Lt || op == Op::Le || op == Op::Gt || op == Op::Ge || op == Op::Ne;
    if (!order) return false;
    const DType type = fn.type(fn.arg(id, 0));
    return type.is_scalar() && is_integer(type.scalar());
}

}  // namespace

// Returns whether the value can be computed before the body, and marks what it is computed from.
bool KernelEmitter::add_to_bounds(NodeId id, std::vector<bool>& needed) const {
    if (needed[id]) return true;
    if (!ir::traits(fn_[id].op).pure) return fn_[id].op == Op::Buffer;
    const auto args = fn_.args(id);
    if (!std::all_of(args.begin(), args.end(), [&](NodeId arg) { return add_to_bounds(arg, needed); })) {
        return false;
    }
    needed[id] = true;
    return true;
}

bool KernelEmitter::add_interior(NodeId condition, std::vector<bool>& needed,
                                 std::vector<NodeId>& found) const {
    if (fn_[condition].op == Op::And && fn_.type(condition) == ScalarType::Bool) {
        found.push_back(condition);
        return add_interior(fn_.arg(condition, 0), needed, found) &&
               add_interior(fn_.arg(condition, 1), needed, found);
    }
    if (!is_integer_comparison(fn_, condition)) return false;
    const LaneShape a = shape(fn_.arg(condition, 0));
    const LaneShape b = shape(fn_.arg(condition, 1));
    const LaneShape& moving = a.kind == LaneShape::Uniform ? b : a;
    const LaneShape& bound = a.kind == LaneShape::Uniform ? a : b;
    if (bound.kind != LaneShape::Uniform || moving.kind == LaneShape::Varying || moving.stride < 0)
        return false;
    found.push_back(condition);
    return add_to_bounds(fn_.arg(condition, 0), needed) && add_to_bounds(fn_.arg(condition, 1), needed);
}

void KernelEmitter::find_interior() {
    interior_.assign(fn_.nodes.size(), false);
    if (c.W == 1 || segments_) return;
    std::size_t size = 0;
    ir::for_each_node(fn_, fn_.body, [&](NodeId) { ++size; });
    if (size > most_nodes) return;
    std::vector<bool> needed(fn_.nodes.size(), false);
    bool any = false;
    for (const NodeId id : fn_.nodes_of(fn_.body)) {
        if (fn_[id].op != Op::If || !control_.divergent[id] || control_.kills[id]) continue;
        std::vector<bool> more = needed;
        std::vector<NodeId> found;
        if (!add_interior(fn_.arg(id, 0), more, found)) continue;
        needed = std::move(more);
        any = true;
        for (const NodeId condition : found) interior_[condition] = true;
    }
    if (!any) return;
    for (const NodeId id : fn_.nodes_of(fn_.body)) {
        if (needed[id]) bounds_.push_back(id);
        if (interior_[id] && fn_[id].op != Op::And) comparisons_.push_back(id);
    }
}

// Returns whether the comparison holds in all lanes: at both ends, if the lanes in between are in order.
Val KernelEmitter::holds_in_all_lanes(NodeId comparison) {
    Op op = fn_[comparison].op;
    NodeId moving = fn_.arg(comparison, 0);
    NodeId bound = fn_.arg(comparison, 1);
    if (shape(moving).kind == LaneShape::Uniform) {
        std::swap(moving, bound);
        op = op == Op::Lt   ? Op::Gt
             : op == Op::Le ? Op::Ge
             : op == Op::Gt ? Op::Lt
             : op == Op::Ge ? Op::Le
                            : op;
    }
    const ScalarType type = fn_.type(moving).scalar();
    const Val first = scalar(leaf(moving));
    const Val limit = scalar(leaf(bound));
    const std::int64_t span = shape(moving).stride * static_cast<std::int64_t>(c.W - 1);
    const Val last = c.add(first, c.c(c.L.TypeOf(first), span));
    Val holds = nullptr;
    switch (op) {
        case Op::Gt:
        case Op::Ge: holds = compare(op, type, first, limit); break;
        case Op::Lt:
        case Op::Le: holds = compare(op, type, last, limit); break;
        default:
            holds = c.or_(compare(Op::Gt, type, first, limit), compare(Op::Lt, type, last, limit));
            break;
    }
    return lanes_.may_wrap(moving) ? c.and_(holds, compare(Op::Ge, type, last, first)) : holds;
}

void KernelEmitter::emit_chunk(Val chunk_mask) {
    if (chunk_mask != nullptr || comparisons_.empty()) {
        emit_body(chunk_mask);
        return;
    }
    values_ = parameters_;
    masked_ = false;
    for (const NodeId id : bounds_) emit_node(id);
    Val inside = nullptr;
    for (const NodeId id : comparisons_) inside = c.both(inside, holds_in_all_lanes(id));
    const Block interior = c.block("interior");
    const Block border = c.block("border");
    const Block end = c.block("vector.end");
    c.br(inside, interior, border);
    c.at(interior);
    in_interior_ = true;
    emit_body(nullptr);
    in_interior_ = false;
    c.br(end);
    c.at(border);
    emit_body(nullptr);
    c.br(end);
    c.at(end);
}

}  // namespace volley::codegen::llvm
