// Kernels with barriers: scalar code for group-level control flow, loops over the group's chunks for
// segments, and the spill area that carries values between segments (passes/split_barriers.hpp).
#include "codegen/llvm/kernel_emitter.hpp"
#include "ir/leaves.hpp"

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;
using passes::GroupItem;
using passes::GroupRegion;
using passes::Segment;

void KernelEmitter::place_spills() {
    const auto reserve = [&](std::uint64_t bytes_per_chunk) {
        const std::uint64_t at = spill_bytes_;
        spill_bytes_ += (chunks_ * bytes_per_chunk + 63) / 64 * 64;
        return at;
    };
    for (const NodeId id : segments_->spilled) {
        spill_offsets_[id] = reserve(fn_.type(id).leaf_count() * 8 * c.W);
    }
    if (segments_->masks) alive_offset_ = reserve(4 * c.W);
    for (const NodeId loop : segments_->masked_loops) continue_offsets_[loop] = reserve(4 * c.W);
}

// Each leaf of a value takes eight bytes per lane, regardless of its type.
Val KernelEmitter::spill_address(std::uint64_t offset, std::uint64_t size, Val chunk) {
    const Val at = c.mul(c.zext(chunk, c.i64), c.u64(size));
    return c.gep(c.gep(spill_, static_cast<std::int64_t>(offset)), at);
}

Leaves KernelEmitter::load_spilled(NodeId id, Val chunk, bool first_lane_only) {
    const std::vector<ScalarType> types = ir::leaf_scalars(fn_.type(id));
    const std::uint64_t size = types.size() * 8 * c.W;
    const Val at = spill_address(spill_offsets_.at(id), size, chunk);
    Leaves leaves;
    for (std::size_t k = 0; k < types.size(); ++k) {
        const Type t = c.memory_scalar(types[k]);
        const bool one = first_lane_only || c.W == 1;
        const Val v = c.load(one ? t : c.lanes(t), c.gep(at, static_cast<std::int64_t>(k * 8 * c.W)),
                             static_cast<unsigned>(size_of(types[k])));
        Leaf l = to_value(v, types[k]);
        if (!one && lane_uniform(id)) {
            l = Leaf::of_scalar(scalar(l));
        } else if (!one && types.size() == 1 && is_integer(types[k]) &&
                   shape(id).kind == passes::LaneShape::Affine) {
            l.scalar = c.extract(l.lanes, 0u);
        }
        leaves.push_back(l);
    }
    return leaves;
}

void KernelEmitter::reload(NodeId id, Val chunk, bool first_lane_only) {
    set(id, load_spilled(id, chunk, first_lane_only));
    sums_.erase(id);  // its terms have values of another segment
}

void KernelEmitter::save_spilled(NodeId id, Val chunk) {
    const std::vector<ScalarType> types = ir::leaf_scalars(fn_.type(id));
    const Val at = spill_address(spill_offsets_.at(id), types.size() * 8 * c.W, chunk);
    for (std::size_t k = 0; k < types.size(); ++k) {
        const Val v =
            c.W == 1 ? leaf(id, static_cast<unsigned>(k)).scalar : lanes(leaf(id, static_cast<unsigned>(k)));
        c.store(to_memory(v, types[k]), c.gep(at, static_cast<std::int64_t>(k * 8 * c.W)),
                static_cast<unsigned>(size_of(types[k])));
    }
}

void KernelEmitter::load_variable(NodeId id, Val chunk) {
    Variable& v = variables_.at(id);
    const std::vector<ScalarType> types = ir::leaf_scalars(v.type);
    const std::uint64_t size = (types.size() * v.slot_size + 63) / 64 * 64;
    const Val at = spill_address(v.spill, size, chunk);
    if (v.indexed) {
        v.memory = at;  // accessed in place
        return;
    }
    for (std::size_t k = 0; k < types.size(); ++k) {
        const Type t = v.uniform ? c.memory_scalar(types[k]) : c.lanes(c.memory_scalar(types[k]));
        const Val stored = c.load(t, c.gep(at, static_cast<std::int64_t>(k) * v.slot_size),
                                  static_cast<unsigned>(size_of(types[k])));
        const Leaf l = to_value(stored, types[k]);
        c.store(value_to_slot(l.uniform() ? l.scalar : l.lanes, types[k]), v.slots[k], 0);
    }
}

void KernelEmitter::save_variable(NodeId id, Val chunk) {
    const Variable& v = variables_.at(id);
    if (v.indexed) return;
    const std::vector<ScalarType> types = ir::leaf_scalars(v.type);
    const std::uint64_t size = (types.size() * v.slot_size + 63) / 64 * 64;
    const Val at = spill_address(v.spill, size, chunk);
    for (std::size_t k = 0; k < types.size(); ++k) {
        const Val x = slot_to_value(c.load(slot_type(types[k], v.uniform), v.slots[k], 0), types[k]);
        c.store(to_memory(x, types[k]), c.gep(at, static_cast<std::int64_t>(k) * v.slot_size),
                static_cast<unsigned>(size_of(types[k])));
    }
}

void KernelEmitter::for_each_chunk(const std::function<void(Val chunk, Val mask)>& body) {
    const unsigned whole = group_size_ / c.W;
    if (whole == 1) {
        body(c.u32(0), nullptr);
    } else if (whole > 1) {
        counted_loop(c.u32(0), c.u32(whole), c.u32(1), "chunks", [&](Val chunk) { body(chunk, nullptr); });
    }
    if (const unsigned rest = group_size_ % c.W; rest != 0) {
        body(c.u32(whole), c.icmp(LLVMIntULT, c.iota(c.i32), c.c(c.lanes(c.i32), rest)));
    }
}

void KernelEmitter::emit_segment(const Segment& segment) {
    for_each_chunk([&](Val chunk, Val m) { emit_segment_chunk(segment, chunk, m); });
}

void KernelEmitter::emit_segment_chunk(const Segment& segment, Val chunk, Val chunk_mask) {
    group_level_ = false;
    masked_ = false;
    divergence_ = 0;
    set_local_ids(c.mul(chunk, c.u32(c.W)));
    const Block end = c.block("segment.end");
    segment_rest_ = c.block("segment.rest");
    const Val alive = segments_->masks ? spill_address(alive_offset_, 4 * c.W, chunk) : nullptr;
    if (alive != nullptr) {
        const Val stored = c.load(c.mask_type(), alive, 1);
        c.store(stored, live_, 0);
        const Block run = c.block("segment.live");
        if (c.W > 1) {
            set_mask(c.both(c.to_mask(stored), chunk_mask));
            c.br(c.any(mask()), run, end);
        } else {
            c.br(stored, run, end);
        }
        c.at(run);
        for (OpenLoop& loop : loops_) {
            if (continue_offsets_.contains(loop.node)) {
                loop.continued = spill_address(continue_offsets_.at(loop.node), 4 * c.W, chunk);
            }
        }
    } else if (chunk_mask != nullptr) {
        set_mask(chunk_mask);
    }
    for (const NodeId id : segment.reload) reload(id, chunk, false);
    for (const NodeId id : segment.recompute) emit_node(id);
    for (const NodeId id : segment.variables) load_variable(id, chunk);
    for (std::size_t i = 0; i < segment.nodes.size() && !c.terminated(); ++i) {
        emit_node(segment.nodes[i]);
        if (control_.kills[segment.nodes[i]] && masked_ && i + 1 < segment.nodes.size()) {
            const Block rest = c.block("rest");
            c.br(c.any(mask()), rest, segment_rest_);
            c.at(rest);
        }
    }
    if (!c.terminated()) {
        for (const NodeId id : segment.save) save_spilled(id, chunk);
        c.br(segment_rest_);
    }
    c.at(segment_rest_);
    for (const NodeId id : segment.written) save_variable(id, chunk);
    if (alive != nullptr) c.store(c.load(c.mask_type(), live_, 0), alive, 1);
    c.br(end);
    c.at(end);
    masked_ = false;
    segment_rest_ = nullptr;
}

void KernelEmitter::leave_segment(Op op) {
    // All live lanes of the chunk return, or continue with the next iteration of a group-level loop.
    const Val live = masked_ ? c.load(c.mask_type(), live_, 0) : c.ones(c.mask_type());
    if (op == Op::Continue) {
        const Val continued = loops_.back().continued;
        c.store(c.or_(c.load(c.mask_type(), continued, 1), live), continued, 1);
    }
    c.store(c.zero(c.mask_type()), live_, 0);
    c.br(segment_rest_);
}

void KernelEmitter::emit_group_region(const GroupRegion& region) {
    if (&region == &segments_->body && segments_->masks) {
        for_each_chunk([&](Val chunk, Val) {
            c.store(c.ones(c.mask_type()), spill_address(alive_offset_, 4 * c.W, chunk), 1);
            for (const auto& [loop, offset] : continue_offsets_) {
                c.store(c.zero(c.mask_type()), spill_address(offset, 4 * c.W, chunk), 1);
            }
        });
    }
    for (const GroupItem& item : region.items) {
        switch (item.kind) {
            case GroupItem::Node:
                group_level_ = true;
                emit_node(item.node);
                group_level_ = false;
                break;
            case GroupItem::Run: emit_segment(segments_->segments[item.segment]); break;
            case GroupItem::Control: emit_group_control(item); break;
            case GroupItem::Jump: {
                const Op op = fn_[item.node].op;
                c.br(op == Op::Return  ? chunk_end_
                     : op == Op::Break ? loops_.back().exit
                                       : loops_.back().next);
                return;
            }
        }
    }
}

void KernelEmitter::emit_group_control(const GroupItem& item) {
    for (const NodeId id : item.reload) reload(id, c.u32(0), true);
    if (fn_[item.node].op != Op::If) {
        emit_group_loop(item);
        return;
    }
    const ir::Node& node = fn_[item.node];
    scalar_branch(scalar(leaf(fn_.arg(item.node, 0))), item.node, [&](ir::RegionId side) {
        emit_group_region(item.inside[side == node.regions[0] ? 0 : 1]);
    });
}

void KernelEmitter::emit_group_loop(const GroupItem& item) {
    const NodeId id = item.node;
    const bool counted = fn_[id].op == Op::For;
    Trip trip;
    Val counter = nullptr;
    Type t = nullptr;
    if (counted) {
        trip = trip_count(id);
        t = c.scalar(fn_.type(id).scalar());
        counter = c.slot(t);
        c.store(c.zero(t), counter, 0);
    }
    // Lanes that execute `continue` individually are masked by `continued` of the chunk that is running.
    OpenLoop loop{.node = id, .masked = continue_offsets_.contains(id)};
    const Block head = c.block("group.loop");
    loop.next = c.block("group.next");
    loop.exit = c.block("group.exit");
    c.br(head);
    c.at(head);
    Val i = nullptr;
    if (counted) {
        i = c.load(t, counter, 0);
        const Block body = c.block("group.body");
        c.br(c.icmp(LLVMIntULT, i, trip.count.scalar), body, loop.exit);
        c.at(body);
        set(id, {Leaf::of_scalar(c.add(trip.begin.scalar, c.mul(i, trip.step.scalar)))});
    }
    loops_.push_back(loop);
    emit_group_region(item.inside[0]);
    loops_.pop_back();
    if (!c.terminated()) c.br(loop.next);
    c.at(loop.next);
    if (loop.masked) {
        for_each_chunk([&](Val chunk, Val) {
            const Val alive = spill_address(alive_offset_, 4 * c.W, chunk);
            const Val continued = spill_address(continue_offsets_.at(id), 4 * c.W, chunk);
            c.store(c.or_(c.load(c.mask_type(), alive, 1), c.load(c.mask_type(), continued, 1)), alive, 1);
            c.store(c.zero(c.mask_type()), continued, 1);
        });
    }
    if (counted) c.store(c.add(i, c.c(t, 1)), counter, 0);
    c.br(head);
    c.at(loop.exit);
}

}  // namespace volley::codegen::llvm
