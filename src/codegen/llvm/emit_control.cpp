// Control flow. Uniform branches and loops are scalar jumps. Divergent ones run under the mask in live_: both
// sides of an if in turn, a loop until no lane is left in it.
#include "codegen/llvm/kernel_emitter.hpp"

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;
using ir::RegionId;

namespace {

// Returns true for regions that are cheaper to run under an empty mask than to branch around.
bool runs_anyway(const ir::Function& fn, RegionId region,
                 const std::function<bool(NodeId)>& is_masked_access) {
    unsigned cost = 0;
    for (const NodeId id : fn.nodes_of(region)) {
        const ir::Node& node = fn[id];
        const ir::Form form = ir::form(node.op);
        const bool var_access = (node.op == Op::Load || node.op == Op::Store) &&
                                fn[fn.arg(id, 0)].op == Op::Var &&
                                fn.args(id).size() == ir::path_start(node.op);
        const bool function = node.op >= Op::Sqrt && node.op <= Op::Hypot;
        if (!(ir::traits(node.op).pure || var_access || is_masked_access(id)) || form == ir::Form::BufferSize)
            return false;
        cost += function || node.op == Op::Div || node.op == Op::Rem ? 8 : 1;
        if (cost > 10) return false;
    }
    return true;
}

}  // namespace

Val KernelEmitter::mask() { return masked_ ? c.to_mask(c.load(c.mask_type(), live_, 0)) : nullptr; }

void KernelEmitter::set_mask(Val m) {
    c.store(c.from_mask(m), live_, 0);
    masked_ = true;
}

void KernelEmitter::enter_masked() {
    if (!masked_) set_mask(c.ones(c.lanes(c.i1)));
}

void KernelEmitter::emit_region(RegionId region, Block when_empty) {
    const std::vector<NodeId>& nodes = fn_.nodes_of(region);
    Block end = nullptr;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const NodeId id = nodes[i];
        emit_node(id);
        if (c.terminated()) break;  // all lanes have jumped: the rest is unreachable
        if (control_.kills[id] && i + 1 < nodes.size()) {
            if (when_empty == nullptr && end == nullptr) end = c.block("rest.end");
            const Block rest = c.block("rest");
            c.br(c.any(mask()), rest, when_empty != nullptr ? when_empty : end);
            c.at(rest);
        }
    }
    if (end != nullptr) {
        if (!c.terminated()) c.br(end);
        c.at(end);
    }
}

// Returns true for loads that are one instruction, with a mask: contiguous ones of the processor's sizes.
bool KernelEmitter::is_masked_load(NodeId id) const {
    if (fn_[id].op != Op::Load || fn_[fn_.arg(id, 0)].op == Op::Var || !fn_.type(id).is_scalar())
        return false;
    const bool has_mask = c.isa.avx512 || (c.isa.avx && fn_.type(id).size() >= 4);
    if (!has_mask || fn_.args(id).size() != 2 || groups_.find(id) != nullptr) return false;
    const passes::LaneShape index = shape(fn_.arg(id, 1));
    return index.kind == passes::LaneShape::Affine && index.stride == 1;
}

void KernelEmitter::emit_if(NodeId id) {
    const ir::Node& node = fn_[id];
    const Leaf condition = leaf(fn_.arg(id, 0));
    if (holds(fn_.arg(id, 0))) {
        emit_region(node.regions[0]);
        return;
    }
    if (!control_.divergent[id]) {
        // Lanes may become inactive inside, so both sides must leave the mask in live_.
        if (control_.kills[id]) enter_masked();
        scalar_branch(scalar(condition), id, [&](RegionId side) { emit_region(side); });
        return;
    }
    const bool was_masked = masked_;
    const Val outer = mask();
    const Val yes = lanes(condition);
    ++divergence_;
    // Returns the mask of lanes that reach the end of a side.
    const auto side = [&](RegionId region, Val entering) -> Val {
        if (region == ir::none || fn_.nodes_of(region).empty()) return entering;
        const bool anyway = !control_.kills[id] && runs_anyway(fn_, region, [&](NodeId n) {
            return is_masked_load(n) || (c.isa.avx512 && packed_.count(n) != 0);
        });
        Block done = nullptr;
        Val left = nullptr;
        if (control_.kills[id]) {
            left = c.slot(c.mask_type());
            c.store(c.zero(c.mask_type()), left, 0);
        }
        if (!anyway) {
            const Block run = c.block("if.some");
            done = c.block("if.done");
            c.br(c.any(entering), run, done);
            c.at(run);
        }
        set_mask(entering);
        emit_region(region);
        if (left != nullptr) c.store(c.load(c.mask_type(), live_, 0), left, 0);
        if (done != nullptr) {
            c.br(done);
            c.at(done);
        }
        return left != nullptr ? c.to_mask(c.load(c.mask_type(), left, 0)) : entering;
    };
    const Val after_then = side(node.regions[0], c.both(outer, yes));
    const Val after_else = side(node.regions[1], c.both(outer, c.not_(yes)));
    --divergence_;
    if (control_.kills[id]) {
        set_mask(c.or_(after_then, after_else));
    } else if (was_masked) {
        set_mask(outer);
    } else {
        masked_ = false;
    }
}

void KernelEmitter::scalar_branch(Val condition, NodeId id, const std::function<void(RegionId)>& emit_side) {
    const ir::Node& node = fn_[id];
    const bool has_else = node.regions[1] != ir::none && !fn_.nodes_of(node.regions[1]).empty();
    const Block yes = c.block("if.then");
    const Block no = has_else ? c.block("if.else") : nullptr;
    const Block end = c.block("if.end");
    const bool was_masked = masked_;
    c.br(condition, yes, has_else ? no : end);
    c.at(yes);
    emit_side(node.regions[0]);
    if (!c.terminated()) c.br(end);
    masked_ = was_masked;
    if (has_else) {
        c.at(no);
        emit_side(node.regions[1]);
        if (!c.terminated()) c.br(end);
        masked_ = was_masked;
    }
    c.at(end);
}

KernelEmitter::Trip KernelEmitter::trip_count(NodeId id) {
    const ScalarType type = fn_.type(id).scalar();
    const Leaf begin = leaf(fn_.arg(id, 0));
    const Leaf end = leaf(fn_.arg(id, 1));
    const Leaf step = leaf(fn_.arg(id, 2));
    const bool uniform = begin.uniform() && end.uniform() && step.uniform();
    const Val first = uniform ? begin.scalar : lanes(begin);
    const Val last = uniform ? end.scalar : lanes(end);
    const Val by = uniform ? step.scalar : lanes(step);
    const Type t = c.L.TypeOf(first);
    const bool is_signed = is_signed_integer(type);
    const std::optional<std::int64_t> constant_step = fn_.constant_int(fn_.arg(id, 2));
    // (distance - 1) / step + 1 for distance > 0, in unsigned arithmetic: exact at the limits of the range.
    const auto count = [&](Val distance, Val stride, Val runs) {
        const Val one = c.c(t, 1);
        Val n =
            constant_step && (*constant_step == 1 || *constant_step == -1)
                ? distance
                : c.add(divide(false,
                               is_signed ? static_cast<ScalarType>(static_cast<unsigned>(type) + 1) : type,
                               c.sub(distance, one), stride),
                        one);
        return c.select(runs, n, c.zero(t));
    };
    const Val up_runs = c.icmp(is_signed ? LLVMIntSLT : LLVMIntULT, first, last);
    Val n = nullptr;
    if (constant_step && *constant_step == 0) {
        n = c.zero(t);
    } else if (!is_signed || (constant_step && *constant_step > 0)) {
        const Val runs = constant_step ? up_runs : c.and_(up_runs, c.icmp(LLVMIntNE, by, c.zero(t)));
        n = count(c.sub(last, first), by, runs);
    } else if (constant_step) {
        n = count(c.sub(first, last), c.sub(c.zero(t), by), c.icmp(LLVMIntSGT, first, last));
    } else {
        const Val up = count(c.sub(last, first), by, c.and_(up_runs, c.icmp(LLVMIntSGT, by, c.zero(t))));
        const Val down = count(c.sub(first, last), c.sub(c.zero(t), by),
                               c.and_(c.icmp(LLVMIntSGT, first, last), c.icmp(LLVMIntSLT, by, c.zero(t))));
        n = c.or_(up, down);
    }
    return {uniform ? Leaf::of_scalar(n) : Leaf::of_lanes(n), begin, step};
}

KernelEmitter::OpenLoop KernelEmitter::open_loop(NodeId id) {
    OpenLoop loop{.node = id, .masked = control_.divergent[id]};
    if (!loop.masked) return loop;
    enter_masked();
    loop.broken = c.slot(c.mask_type());
    c.store(c.zero(c.mask_type()), loop.broken, 0);
    if (control_.masked_continue[id]) {
        loop.continued = c.slot(c.mask_type());
        c.store(c.zero(c.mask_type()), loop.continued, 0);
    }
    ++divergence_;
    return loop;
}

void KernelEmitter::resume_continued(const OpenLoop& loop) {
    if (loop.continued == nullptr) return;
    c.store(c.or_(c.load(c.mask_type(), live_, 0), c.load(c.mask_type(), loop.continued, 0)), live_, 0);
    c.store(c.zero(c.mask_type()), loop.continued, 0);
}

void KernelEmitter::close_loop(const OpenLoop& loop, bool was_masked) {
    if (!loop.masked) return;
    --divergence_;
    c.store(c.load(c.mask_type(), loop.broken, 0), live_, 0);
    // All lanes are live again, except those that returned.
    masked_ = was_masked || control_.kills[loop.node];
}

void KernelEmitter::emit_for(NodeId id) {
    const ir::Node& node = fn_[id];
    const bool divergent = control_.divergent[id];
    const ScalarType type = node.type.scalar();
    const Type t = c.scalar(type);
    const Trip trip = trip_count(id);
    const bool was_masked = masked_;
    OpenLoop loop = open_loop(id);
    const Val counter = c.slot(t);
    c.store(c.zero(t), counter, 0);
    const Block head = c.block("for.head");
    const Block body = c.block("for.body");
    loop.next = c.block("for.next");
    loop.exit = c.block("for.exit");
    c.br(head);
    c.at(head);
    const Val i = c.load(t, counter, 0);
    if (trip.count.uniform()) {
        const Val more = c.icmp(LLVMIntULT, i, trip.count.scalar);
        if (divergent) {
            // Lanes still in the loop leave it together at the end.
            const Block check = c.block("for.check");
            const Block finished = c.block("for.finished");
            c.br(more, check, finished);
            c.at(finished);
            const Val done = c.or_(c.load(c.mask_type(), loop.broken, 0), c.load(c.mask_type(), live_, 0));
            c.store(done, loop.broken, 0);
            c.br(loop.exit);
            c.at(check);
            c.br(c.any(mask()), body, loop.exit);
        } else {
            c.br(more, body, loop.exit);
        }
    } else {
        const Val live = mask();
        const Val more = c.icmp(LLVMIntULT, c.splat(i), trip.count.lanes);
        const Val stay = c.and_(live, more);
        const Val broken = c.to_mask(c.load(c.mask_type(), loop.broken, 0));
        c.store(c.from_mask(c.or_(broken, c.and_(live, c.not_(more)))), loop.broken, 0);
        set_mask(stay);
        c.br(c.any(stay), body, loop.exit);
    }
    c.at(body);
    // index = begin + i * step, uniform or per lane depending on its operands.
    Leaf index;
    const bool index_uniform = trip.begin.uniform() && trip.step.uniform();
    if (trip.step.uniform()) {
        const Val offset = c.mul(i, trip.step.scalar);
        if (trip.begin.scalar != nullptr) index.scalar = c.add(trip.begin.scalar, offset);
        if (!index_uniform) index.lanes = c.add(lanes(trip.begin), c.splat(offset));
    } else {
        index.lanes = c.add(lanes(trip.begin), c.mul(c.splat(i), lanes(trip.step)));
    }
    set(id, {index});
    loops_.push_back(loop);
    const bool masked_inside = masked_;
    emit_region(node.regions[0]);
    loops_.pop_back();
    if (!c.terminated()) c.br(loop.next);
    masked_ = masked_inside;
    c.at(loop.next);
    resume_continued(loop);
    c.store(c.add(i, c.c(t, 1)), counter, 0);
    c.br(head);
    c.at(loop.exit);
    close_loop(loop, was_masked);
}

void KernelEmitter::emit_loop(NodeId id) {
    const ir::Node& node = fn_[id];
    const bool divergent = control_.divergent[id];
    const bool was_masked = masked_;
    OpenLoop loop = open_loop(id);
    const Block head = c.block("loop");
    loop.next = c.block("loop.next");
    loop.exit = c.block("loop.exit");
    c.br(head);
    c.at(head);
    loops_.push_back(loop);
    const bool masked_inside = masked_;
    // Once the body has no live lane, the iteration is over; without continued lanes, so is the loop.
    emit_region(node.regions[0], divergent && loop.continued == nullptr ? loop.exit : nullptr);
    loops_.pop_back();
    if (!c.terminated()) c.br(loop.next);
    masked_ = masked_inside;
    c.at(loop.next);
    if (divergent) {
        resume_continued(loop);
        const std::vector<NodeId>& nodes = fn_.nodes_of(node.regions[0]);
        const bool some_left = loop.continued == nullptr && !nodes.empty() && !control_.kills[nodes.back()] &&
                               ir::form(fn_[nodes.back()].op) != ir::Form::Jump;
        if (some_left) {
            c.br(head);
        } else {
            c.br(c.any(mask()), head, loop.exit);
        }
    } else {
        c.br(head);
    }
    c.at(loop.exit);
    close_loop(loop, was_masked);
}

void KernelEmitter::emit_jump(NodeId id) {
    const Op op = fn_[id].op;
    if (segment_rest_ != nullptr && divergence_ == 0 &&
        (op == Op::Return || continue_offsets_.contains(loops_.back().node))) {
        leave_segment(op);
        return;
    }
    if (op == Op::Return) {
        if (divergence_ == 0) {
            c.br(chunk_end_);
        } else {
            set_mask(c.zero(c.lanes(c.i1)));
        }
        return;
    }
    const OpenLoop& loop = loops_.back();
    if (!loop.masked) {
        c.br(op == Op::Break ? loop.exit : loop.next);
        return;
    }
    const Val target = op == Op::Break ? loop.broken : loop.continued;
    c.store(c.or_(c.load(c.mask_type(), target, 0), c.load(c.mask_type(), live_, 0)), target, 0);
    set_mask(c.zero(c.lanes(c.i1)));
}

}  // namespace volley::codegen::llvm
