// Atomics run lane by lane, because lanes may share an address. A workgroup runs on one thread, so atomics on
// shared memory are plain operations, in a row without branches; lanes that add to one buffer element are
// summed first and issue one atomic.
#include "codegen/llvm/kernel_emitter.hpp"
#include "ir/combine.hpp"

#include <volley/error.hpp>

#include <algorithm>

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;

namespace {

LLVMAtomicRMWBinOp rmw_operation(Op op, bool is_signed) {
    switch (op) {
        case Op::AtomicAdd: return LLVMAtomicRMWBinOpAdd;
        case Op::AtomicSub: return LLVMAtomicRMWBinOpSub;
        case Op::AtomicMin: return is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
        case Op::AtomicMax: return is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
        case Op::AtomicAnd: return LLVMAtomicRMWBinOpAnd;
        case Op::AtomicOr: return LLVMAtomicRMWBinOpOr;
        case Op::AtomicXor: return LLVMAtomicRMWBinOpXor;
        default: return LLVMAtomicRMWBinOpXchg;
    }
}

// Returns 8 or 16 if the index is, or was converted from, an unsigned number of so many bits; else 0.
unsigned narrow_bits(const ir::Function& fn, NodeId index) {
    const auto bits = [&](NodeId id) {
        const ScalarType type = fn.type(id).scalar();
        return type == ScalarType::U8 ? 8u : type == ScalarType::U16 ? 16u : 0u;
    };
    if (bits(index) != 0 || fn[index].op != Op::Convert) return bits(index);
    const unsigned before = bits(fn.arg(index, 0));
    return before < bits_of(fn.type(index).scalar()) ? before : 0;
}

bool is_used(const ir::Function& fn, NodeId value) {
    bool used = false;
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        for (const NodeId arg : fn.args(id)) used = used || arg == value;
    });
    return used;
}

}  // namespace

Val KernelEmitter::atomic_once(Op op, ScalarType type, Val at, Val v, Val desired, bool shared) {
    const Type t = c.scalar(type);
    const Type word = bits_of(type) == 64 ? c.i64 : c.i32;
    const auto align = static_cast<unsigned>(size_of(type));
    const auto as_word = [&](Val x) { return volley::is_float(type) ? c.bitcast(x, word) : x; };
    const auto as_value = [&](Val x) { return volley::is_float(type) ? c.bitcast(x, t) : x; };
    const auto exchange_if = [&](Val expected, Val requested) {
        const Val pair = c.L.BuildAtomicCmpXchg(c.b, at, expected, requested, LLVMAtomicOrderingMonotonic,
                                                LLVMAtomicOrderingMonotonic, 0);
        return pair;
    };
    if (shared) {
        const Val old = c.load(t, at, align);
        if (op == Op::AtomicCas) {
            const Val equal = c.icmp(LLVMIntEQ, as_word(old), as_word(v));
            c.store(c.select(equal, desired, old), at, align);
        } else if (op == Op::AtomicExchange) {
            c.store(v, at, align);
        } else {
            c.store(apply(ir::combine_of_atomic(op), type, type, old, v, nullptr), at, align);
        }
        return old;
    }
    if (op == Op::AtomicCas) {
        return as_value(c.L.BuildExtractValue(c.b, exchange_if(as_word(v), as_word(desired)), 0, ""));
    }
    if (op == Op::AtomicExchange || !volley::is_float(type)) {
        return as_value(c.L.BuildAtomicRMW(c.b, rmw_operation(op, is_signed_integer(type)), at, as_word(v),
                                           LLVMAtomicOrderingMonotonic, 0));
    }
    // Floats: read, compute, compare-exchange until no other thread intervened.
    const Block before = c.here();
    const Block again = c.block("atomic");
    const Block done = c.block("atomic.done");
    const Val start = c.load(word, at, align);
    c.br(again);
    c.at(again);
    const Val seen = c.L.BuildPhi(c.b, word, "");
    const Val next = apply(ir::combine_of_atomic(op), type, type, c.bitcast(seen, t), v, nullptr);
    const Val pair = exchange_if(seen, c.bitcast(next, word));
    const Val now = c.L.BuildExtractValue(c.b, pair, 0, "");
    const Val succeeded = c.L.BuildExtractValue(c.b, pair, 1, "");
    const Block after = c.here();
    c.br(succeeded, done, again);
    Val values[2] = {start, now};
    Block blocks[2] = {before, after};
    c.L.AddIncoming(seen, values, blocks, 2);
    c.at(done);
    return c.bitcast(seen, t);
}

void KernelEmitter::for_each_lane(const std::function<void(Val lane)>& body) {
    if (c.W == 1) {
        body(c.u32(0));
        return;
    }
    const Val m = mask();
    const Val bits = m != nullptr ? c.bits(m) : nullptr;
    const Val counter = c.slot(c.i32);
    c.store(c.u32(0), counter, 0);
    const Block head = c.block("lanes");
    const Block run = m != nullptr ? c.block("lane.live") : nullptr;
    const Block next = c.block("lane.next");
    const Block end = c.block("lanes.end");
    c.br(head);
    c.at(head);
    const Val lane = c.load(c.i32, counter, 0);
    if (m != nullptr) {
        const Type word = c.L.TypeOf(bits);
        const unsigned width = c.L.GetIntTypeWidth(word);
        const Val shift = width < 32 ? c.trunc(lane, word) : c.zext(lane, word);
        c.br(c.trunc(c.lshr(bits, shift), c.i1), run, next);
        c.at(run);
    }
    body(lane);
    c.br(next);
    c.at(next);
    const Val following = c.add(lane, c.u32(1));
    c.store(following, counter, 0);
    c.br(c.icmp(LLVMIntULT, following, c.u32(c.W)), head, end);
    c.at(end);
}

// Loads, changes and stores one element per lane. If some lanes are inactive, they change the first element
// by the identity of the operation.
void KernelEmitter::emit_shared_atomic(NodeId id, bool used) {
    const Op op = fn_[id].op;
    const ScalarType type = fn_.type(id).scalar();
    const Type t = c.scalar(type);
    const auto size = static_cast<unsigned>(size_of(type));
    const LaneAddress p = place(id);
    Val base = c.gep(p.base, static_cast<std::int64_t>(p.offset));
    Val offsets = nullptr;  // of the lanes, in units of `scale`
    std::uint64_t scale = 1;
    for (const Step& step : p.steps) {
        const Leaf index = leaf(step.index);
        if (index.uniform()) {
            base = c.gep(base, c.mul(index64(step.index), c.u64(step.scale)));
            continue;
        }
        const ScalarType from = fn_.type(step.index).scalar();
        if (const unsigned bits = narrow_bits(fn_, step.index); bits != 0 && p.steps.size() == 1) {
            offsets = c.trunc(index.lanes, c.lanes(bits == 8 ? c.i8 : c.i16));
            scale = step.scale;
            break;
        }
        // Shared memory is smaller than 2^31 bytes, so the offsets of legal indices fit.
        const Type to = c.lanes(c.i32);
        const Val narrow = bits_of(from) > 32        ? c.trunc(index.lanes, to)
                           : is_signed_integer(from) ? c.sext(index.lanes, to)
                                                     : c.zext(index.lanes, to);
        const Val term = c.mul(narrow, c.c(to, static_cast<std::int64_t>(step.scale)));
        offsets = offsets == nullptr ? term : c.add(offsets, term);
    }
    if (offsets == nullptr) offsets = c.zero(c.lanes(c.i32));
    const Leaf operand = leaf(fn_.arg(id, 1));
    const Val result = used ? c.slot(c.lanes(t)) : nullptr;
    // Runs all lanes. Offsets are extracted by words; operands that differ are read from memory.
    const auto run = [&](Val of, Val operands) {
        const unsigned bits = c.L.GetIntTypeWidth(c.element(of));
        const unsigned word_bits = std::min(64u, bits * c.W);
        const Type word = c.L.IntTypeInContext(c.context, word_bits);
        const unsigned words = bits * c.W / word_bits;
        const Val all = c.bitcast(of, words == 1 ? word : c.L.VectorType(word, words));
        const Val slot = operands != nullptr ? c.slot(c.L.TypeOf(operands)) : nullptr;
        if (slot != nullptr) c.store(operands, slot, 0);
        for (unsigned lane = 0; lane < c.W; ++lane) {
            const auto at = static_cast<std::int64_t>(lane) * size;
            const Val held = c.zext(c.extract(all, lane * bits / word_bits), c.i64);
            const Val shifted = c.lshr(held, c.u64(lane * bits % word_bits));
            const Val offset = c.and_(shifted, c.u64((std::uint64_t{1} << bits) - 1));
            const Val x = slot != nullptr ? c.load(t, c.gep(slot, at), size) : operand.scalar;
            const Val element = c.gep(base, c.mul(offset, c.u64(scale)));
            const Val old = atomic_once(op, type, element, x, nullptr, true);
            if (used) c.store(old, c.gep(result, at), size);
        }
    };
    const Val whole = operand.uniform() ? nullptr : operand.lanes;
    if (const Val m = mask(); m != nullptr) {
        const Block full = c.block("atomics.full");
        const Block some = c.block("atomics.some");
        const Block done = c.block("atomics.done");
        c.br(c.all(m), full, some);
        c.at(full);
        run(offsets, whole);
        c.br(done);
        c.at(some);
        const Op fold = op == Op::AtomicSub ? Op::Add : ir::combine_of_atomic(op);
        const Val operands = lanes(operand);
        run(c.select(m, offsets, c.zero(c.L.TypeOf(offsets))),
            c.select(m, operands, fold_identity(fold, type, c.L.TypeOf(operands))));
        c.br(done);
        c.at(done);
    } else {
        run(offsets, whole);
    }
    if (used) set(id, {Leaf::of_lanes(c.load(c.lanes(t), result, 0))});
}

void KernelEmitter::emit_atomic(NodeId id) {
    const Op op = fn_[id].op;
    const ScalarType type = fn_.type(id).scalar();
    const Type t = c.scalar(type);
    const bool shared = fn_[fn_.arg(id, 0)].op == Op::Shared;
    const LaneAddress p = place(id);
    const Leaf operand = leaf(fn_.arg(id, 1));
    const Leaf desired = op == Op::AtomicCas ? leaf(fn_.arg(id, 2)) : Leaf{};
    const bool used = is_used(fn_, id);
    const std::optional<std::int64_t> stride = lane_stride(p);
    if (c.W == 1) {
        const Val old = atomic_once(op, type, address(p), operand.scalar, desired.scalar, shared);
        set(id, {Leaf::of_scalar(old)});
        return;
    }
    const bool foldable = op != Op::AtomicExchange && op != Op::AtomicCas;
    if (!used && foldable && stride && *stride == 0) {
        // AtomicSub sums its operands before the subtraction.
        const Op fold = op == Op::AtomicSub ? Op::Add : ir::combine_of_atomic(op);
        Val all = lanes(operand);
        if (const Val m = mask(); m != nullptr)
            all = c.select(m, all, fold_identity(fold, type, c.L.TypeOf(all)));
        for (unsigned n = c.W / 2; n > 0; n /= 2) {
            all = apply(fold, type, type, c.slice(all, 0, n), c.slice(all, n, n), nullptr);
        }
        atomic_once(op, type, address(p), all, nullptr, shared);
        return;
    }
    if (shared && foldable) {
        emit_shared_atomic(id, used);
        return;
    }
    // The loop over the lanes reads pointers and operands from memory.
    const Val pointers = address_lanes(p);
    const Val result = used ? c.slot(c.lanes(t)) : nullptr;
    if (used) c.store(c.zero(c.lanes(t)), result, 0);
    const auto element_at = [&](Val slot, Val lane) {
        return c.gep(slot, c.mul(c.zext(lane, c.i64), c.u64(size_of(type))));
    };
    const auto spread = [&](const Leaf& l) -> Val {
        if (l.uniform()) return nullptr;
        const Val slot = c.slot(c.lanes(t));
        c.store(l.lanes, slot, 0);
        return slot;
    };
    const Val operand_slot = spread(operand);
    const Val desired_slot = op == Op::AtomicCas ? spread(desired) : nullptr;
    const Val pointer_slot = c.slot(c.L.TypeOf(pointers));
    c.store(pointers, pointer_slot, 0);
    for_each_lane([&](Val lane) {
        const auto pick = [&](const Leaf& l, Val slot) {
            return slot == nullptr ? l.scalar
                                   : c.load(t, element_at(slot, lane), static_cast<unsigned>(size_of(type)));
        };
        const Val at = c.load(c.ptr, c.gep(pointer_slot, c.mul(c.zext(lane, c.i64), c.u64(8))), 8);
        const Val old = atomic_once(op, type, at, pick(operand, operand_slot),
                                    op == Op::AtomicCas ? pick(desired, desired_slot) : nullptr, shared);
        if (used) c.store(old, element_at(result, lane), static_cast<unsigned>(size_of(type)));
    });
    if (used) set(id, {Leaf::of_lanes(c.load(c.lanes(t), result, 0))});
}

}  // namespace volley::codegen::llvm
