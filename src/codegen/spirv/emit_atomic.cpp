// Atomics: a single instruction if the target has one, a compare-exchange loop for other float operations,
// two 32-bit atomics for 64-bit operations that can be split. The memory order is relaxed (docs/ir.md section
// 8).
#include "codegen/spirv/kernel_emitter.hpp"

#include "core/fail.hpp"
#include "ir/combine.hpp"
#include "passes/rewrite.hpp"

namespace volley::codegen::spirv {

using ir::NodeId;
using ir::Op;

namespace {

spv::Op integer_atomic(Op op, bool sign) {
    switch (op) {
        case Op::AtomicAdd: return spv::Op::OpAtomicIAdd;
        case Op::AtomicSub: return spv::Op::OpAtomicISub;
        case Op::AtomicMin: return sign ? spv::Op::OpAtomicSMin : spv::Op::OpAtomicUMin;
        case Op::AtomicMax: return sign ? spv::Op::OpAtomicSMax : spv::Op::OpAtomicUMax;
        case Op::AtomicAnd: return spv::Op::OpAtomicAnd;
        case Op::AtomicOr: return spv::Op::OpAtomicOr;
        case Op::AtomicXor: return spv::Op::OpAtomicXor;
        default: return spv::Op::OpAtomicExchange;
    }
}

}  // namespace

Id KernelEmitter::atomic(spv::Op op, Id type, Id pointer, bool shared, std::initializer_list<Id> operands) {
    const auto scope = shared ? spv::Scope::Workgroup : spv::Scope::QueueFamily;
    Words all = {pointer, s_.u32(static_cast<std::uint32_t>(scope)), s_.u32(0)};
    all.insert(all.end(), operands.begin(), operands.end());
    return m_.op(op, type, all);
}

Id KernelEmitter::compare_exchange(Id type, Id pointer, bool shared, Id expected, Id desired) {
    const auto scope = shared ? spv::Scope::Workgroup : spv::Scope::QueueFamily;
    return m_.op(
        spv::Op::OpAtomicCompareExchange, type,
        {pointer, s_.u32(static_cast<std::uint32_t>(scope)), s_.u32(0), s_.u32(0), desired, expected});
}

// Operates on floats through their bits as integers. The loop exits at its head, and the old value leaves it
// in the phi there: drivers may lose a value of the body in lanes that finish before others.
Scalar KernelEmitter::exchange_loop(NodeId id, Id pointer, ScalarType type, Scalar operand, bool shared) {
    const Id bits = m_.int_type(bits_of(type));
    const auto to_float = [&](Id v) { return Scalar{m_.op(spv::Op::OpBitcast, s_.type(type), {v})}; };
    const bool counts = plan_.counted;
    if (counts) begin_count();
    const Id first = atomic(spv::Op::OpAtomicLoad, bits, pointer, shared, {});
    const Id head = m_.new_id();
    const Id body = m_.new_id();
    const Id next = m_.new_id();
    const Id exit = m_.new_id();
    const Id leave = counts ? m_.new_id() : exit;
    const Id before = m_.block();
    m_.branch(head);
    m_.label(head);
    const Phi seen = m_.open_phi(bits, first, before);
    const Phi done = m_.open_phi(m_.bool_type(), m_.boolean(false), before);
    m_.loop_merge(exit, next);
    m_.branch_if(done.id, leave, body);
    if (counts) {
        m_.label(leave);
        leave_count();
        m_.branch(exit);
    }
    m_.label(body);
    if (counts) m_.store(iterations_, s_.add(m_.load(m_.u32_type(), iterations_), s_.u32(1)));
    const Scalar updated = s_.apply(ir::combine_of_atomic(fn_[id].op), type, to_float(seen.id), operand);
    const Id desired = m_.op(spv::Op::OpBitcast, bits, {updated.id});
    const Id found = compare_exchange(bits, pointer, shared, seen.id, desired);
    const Id equal = s_.eq(found, seen.id);
    m_.branch(next);
    m_.label(next);
    m_.close_phi(seen, found, next);
    m_.close_phi(done, equal, next);
    m_.branch(head);
    m_.label(exit);
    if (counts && !loops_.empty()) m_.store(iterations_, load_counter());
    return to_float(seen.id);
}

// Splits a 64-bit sum or bit operation into two 32-bit operations. This is correct only if the old value is
// unused; the carry follows from the old value of the low word.
void KernelEmitter::emit_split_atomic(NodeId id, bool shared) {
    const Op op = fn_[id].op;
    const ScalarType type = fn_.type(id).scalar();
    constexpr std::string_view advice =
        "use 32-bit atomics, or run the kernel on a device that has 64-bit atomics";
    const bool possible = op == Op::AtomicAdd || op == Op::AtomicSub || op == Op::AtomicAnd ||
                          op == Op::AtomicOr || op == Op::AtomicXor;
    if (shared || is_float(type) || !possible || passes::count_uses(fn_)[id] != 0)
        site_.refuse("64-bit atomics", advice);
    const ElementPath place = element_path(fn_, id);
    const Id word = m_.u32_type();
    const Id low = leaf_pointer(place, 0, word);
    const Id high = leaf_pointer(place, 4, word);
    Scalar x = s_.to_words(ScalarType::U64, scalar(fn_.arg(id, 1)));
    if (op == Op::AtomicSub) {
        const Scalar negative = s_.apply(Op::Neg, ScalarType::U64, scalar(fn_.arg(id, 1)));
        x = s_.to_words(ScalarType::U64, negative);
    }
    if (op == Op::AtomicAdd || op == Op::AtomicSub) {
        const Id old = atomic(spv::Op::OpAtomicIAdd, word, low, false, {x.id});
        const Id carry = s_.pick(s_.ult(s_.add(old, x.id), old), s_.u32(1), s_.u32(0));
        atomic(spv::Op::OpAtomicIAdd, word, high, false, {s_.add(x.high, carry)});
    } else {
        atomic(integer_atomic(op, false), word, low, false, {x.id});
        atomic(integer_atomic(op, false), word, high, false, {x.high});
    }
    set(id, s_.zero(type));  // unused
}

void KernelEmitter::emit_atomic(NodeId id) {
    const Op op = fn_[id].op;
    const NodeId root = fn_.arg(id, 0);
    const bool shared = fn_[root].op == Op::Shared;
    const ScalarType type = fn_.type(id).scalar();
    const bool wide = size_of(type) == 8;
    if (type == ScalarType::F64 && !target_.f64)
        site_.refuse("64-bit floats (f64)", "use float, or run the kernel on a device that has f64");
    if (wide) {
        if (!target_.i64 || !(shared ? target_.shared_i64_atomics : target_.i64_atomics)) {
            emit_split_atomic(id, shared);
            return;
        }
        m_.capability(spv::Capability::Int64Atomics);
    }
    const Scalar operand = scalar(fn_.arg(id, 1));
    const bool exchanged = shared && plan_.marks[root].exchanged;
    const bool native_add = type == ScalarType::F32 && !exchanged &&
                            (op == Op::AtomicAdd || op == Op::AtomicSub) &&
                            (shared ? target_.shared_f32_add : target_.f32_add);
    const Id bits = m_.int_type(bits_of(type));
    const Id pointed = native_add ? m_.float_type(32) : bits;
    Id pointer = 0;
    if (shared) {
        const Flat& flat = flats_[memory_[root]];
        const auto path = fn_.args(id).subspan(ir::path_start(op));
        pointer =
            cell_pointer(flat, flat_position(flat, fn_.type(root), path, false), cell_of(flat, type), 0);
    } else {
        const ElementPath place = element_path(fn_, id);
        if (!place.aligned_to(size_of(type)))
            site_.refuse("atomics on misaligned scalars", "align the struct's members naturally");
        pointer = leaf_pointer(place, 0, pointed);
    }
    if (!is_float(type)) {
        if (op == Op::AtomicCas) {
            set(id, {compare_exchange(bits, pointer, shared, operand.id, scalar(fn_.arg(id, 2)).id)});
        } else {
            set(id,
                {atomic(integer_atomic(op, is_signed_integer(type)), bits, pointer, shared, {operand.id})});
        }
        return;
    }
    const auto to_bits = [&](Scalar v) { return m_.op(spv::Op::OpBitcast, bits, {v.id}); };
    const auto to_float = [&](Id v) { return Scalar{m_.op(spv::Op::OpBitcast, s_.type(type), {v})}; };
    if (op == Op::AtomicCas) {
        set(id, to_float(compare_exchange(bits, pointer, shared, to_bits(operand),
                                          to_bits(scalar(fn_.arg(id, 2))))));
    } else if (op == Op::AtomicExchange) {
        set(id, to_float(atomic(spv::Op::OpAtomicExchange, bits, pointer, shared, {to_bits(operand)})));
    } else if (native_add) {
        m_.capability(spv::Capability::AtomicFloat32AddEXT);
        m_.extension("SPV_EXT_shader_atomic_float_add");
        const Id added = op == Op::AtomicAdd ? operand.id : s_.apply(Op::Neg, type, operand).id;
        set(id, {atomic(spv::Op::OpAtomicFAddEXT, pointed, pointer, shared, {added})});
    } else {
        set(id, exchange_loop(id, pointer, type, operand, shared));
    }
}

}  // namespace volley::codegen::spirv
