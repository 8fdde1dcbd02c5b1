// Pure operations: constants, ids, arithmetic, conversions, composites.
#include "codegen/spirv/kernel_emitter.hpp"

#include "core/fail.hpp"

#include <algorithm>

namespace volley::codegen::spirv {

using ir::Form;
using ir::NodeId;
using ir::Op;

void KernelEmitter::emit_node(NodeId id) {
    const ir::Node& node = fn_[id];
    site_.node = id;
    switch (ir::form(node.op)) {
        case Form::Constant: set(id, s_.constant(node.type.scalar(), node.imm)); break;
        case Form::Zero: emit_zero(id); break;
        case Form::Parameter: emit_param(id); break;
        case Form::Root: declare_root(id); return;
        case Form::Builtin: emit_builtin(id); break;
        case Form::Unary:
        case Form::Binary:
        case Form::Ternary:
        case Form::Shift:
        case Form::Compare:
        case Form::Classify:
        case Form::BitCount: emit_elementwise(id); break;
        case Form::Select: emit_select(id); break;
        case Form::Convert: emit_convert(id); break;
        case Form::Bitcast: emit_bitcast(id); break;
        case Form::Construct: {
            scratch_.clear();
            for (const NodeId part : fn_.args(id)) {
                const auto leaves_of_part = value(part);
                scratch_.insert(scratch_.end(), leaves_of_part.begin(), leaves_of_part.end());
            }
            set(id, scratch_);
            break;
        }
        case Form::Extract: emit_extract(id); break;
        case Form::BufferSize: emit_buffer_size(id); break;
        case Form::Load: emit_load(id); break;
        case Form::Store: emit_store(id); return;
        case Form::Atomic:
        case Form::AtomicCas: emit_atomic(id); break;
        case Form::SubgroupFold: emit_fold(id); break;
        case Form::SubgroupLane: emit_lane(id); break;
        case Form::SubgroupVote:
        case Form::Ballot:
        case Form::Elect: emit_vote(id); break;
        case Form::Sync: emit_sync(id); return;
        case Form::If: emit_if(id); return;
        case Form::For: emit_for(id); return;
        case Form::Loop: emit_loop(id); return;
        case Form::Jump: emit_jump(id); return;
        case Form::Print: emit_print(id); return;
    }
    if (plan_.marks[id].spilled) spill(id);
}

void KernelEmitter::emit_zero(NodeId id) {
    scratch_.clear();
    for (const ir::Leaf& leaf : leaves(fn_.type(id))) scratch_.push_back(s_.zero(leaf.scalar));
    set(id, scratch_);
}

void KernelEmitter::emit_builtin(NodeId id) {
    const auto three = [&](std::span<const Id, 3> v) {
        const Scalar parts[] = {{v[0]}, {v[1]}, {v[2]}};
        set(id, parts);
    };
    const ir::Dim3& local = variant_.local;
    const std::uint32_t invocations = local[0] * local[1] * local[2];
    switch (fn_[id].op) {
        case Op::GlobalId: three(global_id()); return;
        case Op::LocalId: three(local_id()); return;
        case Op::GroupId: three(group_id()); return;
        case Op::GlobalSize: three(global_size()); return;
        case Op::LocalSize: three(std::array{s_.u32(local[0]), s_.u32(local[1]), s_.u32(local[2])}); return;
        case Op::GroupCount: {
            // No size is zero: a running invocation is inside the grid.
            std::array<Id, 3> count = {};
            for (std::size_t d = 0; d < 3; ++d) {
                const Id size = global_size()[d];
                const ModuleBuilder::InPrologue prologue(m_);
                count[d] = local[d] == 1 ? size
                                         : s_.add(m_.op(spv::Op::OpUDiv, m_.u32_type(),
                                                        {s_.sub(size, s_.u32(1)), s_.u32(local[d])}),
                                                  s_.u32(1));
            }
            three(count);
            return;
        }
        case Op::LocalIndex: set(id, {local_index()}); return;
        case Op::SubgroupSize: set(id, {s_.u32(target_.subgroup_size)}); return;
        case Op::SubgroupCount: set(id, {s_.u32((invocations - 1) / target_.subgroup_size + 1)}); return;
        default: {
            m_.capability(spv::Capability::GroupNonUniform);
            const bool lane = fn_[id].op == Op::SubgroupLane;
            const ModuleBuilder::InPrologue prologue(m_);
            set(id,
                {builtin_word(lane ? spv::BuiltIn::SubgroupLocalInvocationId : spv::BuiltIn::SubgroupId)});
            return;
        }
    }
}

// Reads a value in the argument block as words, whatever its type.
void KernelEmitter::emit_param(NodeId id) {
    const DType type = fn_.type(id);
    scratch_.clear();
    if (type.size() > 0 && plan_.uses[fn_[id].imm].value) {
        const ModuleBuilder::InPrologue prologue(m_);
        const std::size_t field = field_of(FieldKind::Value, static_cast<std::uint32_t>(fn_[id].imm));
        std::vector<Id> words(static_cast<std::size_t>((type.size() + 3) / 4));
        const auto word = [&](std::uint64_t at) {
            Id& cached = words[static_cast<std::size_t>(at)];
            if (cached == 0) cached = load_argument(field, m_.u32_type(), static_cast<std::uint32_t>(at));
            return cached;
        };
        const auto bytes = [&](std::uint64_t offset, std::uint64_t size) {  // up to four
            const auto shift = static_cast<std::uint32_t>(offset % 4 * 8);
            Id v = word(offset / 4);
            if (shift != 0) v = s_.shr(v, s_.u32(shift));
            if (offset % 4 + size > 4) v = s_.or_(v, s_.shl(word(offset / 4 + 1), s_.u32(32 - shift)));
            return size < 4 ? s_.and_(v, s_.u32((1u << (8 * size)) - 1)) : v;
        };
        for (const ir::Leaf& leaf : leaves(type)) {
            const std::uint64_t size = size_of(leaf.scalar);
            const Id low = bytes(leaf.offset, std::min<std::uint64_t>(size, 4));
            const Id high = size == 8 ? bytes(leaf.offset + 4, 4) : 0;
            scratch_.push_back(s_.from_words(leaf.scalar, low, high));
        }
    }
    set(id, scratch_);
}

void KernelEmitter::emit_buffer_size(NodeId id) {
    const auto parameter = static_cast<std::uint32_t>(fn_[fn_.arg(id, 0)].imm);
    const ModuleBuilder::InPrologue prologue(m_);
    const Id word = m_.u32_type();
    const Id two = load_argument(field_of(FieldKind::Elements, parameter), m_.vector_type(word, 2));
    if (fn_.type(id).size() == 4) {
        set(id, {m_.extract(two, word, 0)});
    } else if (s_.paired(ScalarType::U64)) {
        set(id, {m_.extract(two, word, 0), m_.extract(two, word, 1)});
    } else {
        set(id, {m_.op(spv::Op::OpBitcast, s_.type(ScalarType::U64), {two})});
    }
}

void KernelEmitter::emit_elementwise(NodeId id) {
    const Op op = fn_[id].op;
    const auto args = fn_.args(id);
    const DType operand = fn_.type(args[0]);
    const ScalarType type = operand.scalar();
    const std::uint64_t count = values_[args[0]].count;
    const bool loose = op == Op::Fma && fn_[id].imm == 1;
    std::array<Scalar, 16> results;  // the largest numeric type is a 4x4 matrix
    for (std::size_t k = 0; k < count; ++k) {
        std::array<Scalar, 3> x;
        for (std::size_t a = 0; a < args.size(); ++a) x[a] = pool_[values_[args[a]].first + k];
        results[k] = s_.apply(op, type, x[0], x[1], x[2], loose);
    }
    set(id, std::span<const Scalar>(results.data(), count));
}

void KernelEmitter::emit_select(NodeId id) {
    const auto args = fn_.args(id);
    const DType type = fn_.type(id);
    const bool one_condition = fn_.type(args[0]).is_scalar();
    if (type.is_scalar()) {
        set(id, s_.select(type.scalar(), scalar(args[0]).id, scalar(args[1]), scalar(args[2])));
        return;
    }
    const ir::Leaves& all = leaves(type);
    scratch_.clear();
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Id condition = value(args[0])[one_condition ? 0 : k].id;
        scratch_.push_back(s_.select(all[k].scalar, condition, value(args[1])[k], value(args[2])[k]));
    }
    set(id, scratch_);
}

void KernelEmitter::emit_convert(NodeId id) {
    const NodeId operand = fn_.arg(id, 0);
    const ScalarType from = fn_.type(operand).scalar();
    const ScalarType to = fn_.type(id).scalar();
    std::array<Scalar, 16> results;
    const std::size_t count = values_[operand].count;
    for (std::size_t k = 0; k < count; ++k)
        results[k] = s_.convert(from, to, pool_[values_[operand].first + k]);
    set(id, std::span<const Scalar>(results.data(), count));
}

// Converts through words: operand and result have the same size in bytes.
void KernelEmitter::emit_bitcast(NodeId id) {
    const NodeId operand = fn_.arg(id, 0);
    const ScalarType from = fn_.type(operand).scalar();
    const ScalarType to = fn_.type(id).scalar();
    const std::size_t from_size = size_of(from);
    const std::size_t to_size = size_of(to);
    std::array<Scalar, 16> results;
    const std::size_t count = static_cast<std::size_t>(fn_.type(id).leaf_count());
    if (from_size == to_size && is_integer(from) && is_integer(to) && from_size >= 4) {
        set(id, value(operand));
        return;
    }
    const auto given = value(operand);
    std::array<Id, 32> words = {};
    const std::size_t per_word = from_size < 4 ? 4 / from_size : 1;
    for (std::size_t k = 0; k < given.size(); ++k) {
        const Scalar bits = s_.to_words(from, given[k]);
        if (from_size >= 4) {
            words[k * from_size / 4] = bits.id;
            if (from_size == 8) words[k * 2 + 1] = bits.high;
        } else if (k % per_word == 0) {
            words[k / per_word] = bits.id;
        } else {
            const auto shift = static_cast<std::uint32_t>(k % per_word * from_size * 8);
            words[k / per_word] = s_.or_(words[k / per_word], s_.shl(bits.id, s_.u32(shift)));
        }
    }
    for (std::size_t k = 0; k < count; ++k) {
        if (to_size >= 4) {
            results[k] = s_.from_words(to, words[k * to_size / 4], to_size == 8 ? words[k * 2 + 1] : 0);
            continue;
        }
        const auto shift = static_cast<std::uint32_t>(k * to_size % 4 * 8);
        Id v = words[k * to_size / 4];
        if (shift != 0) v = s_.shr(v, s_.u32(shift));
        results[k] = s_.from_words(to, s_.and_(v, s_.u32((1u << (8 * to_size)) - 1)));
    }
    set(id, std::span<const Scalar>(results.data(), count));
}

void KernelEmitter::emit_extract(NodeId id) {
    const NodeId composite = fn_.arg(id, 0);
    const auto path = fn_.args(id).subspan(1);
    if (plan_.marks[composite].spilled) {
        const Flat& flat = flats_[memory_[composite]];
        scratch_.clear();
        load_flat(flat, flat_position(flat, fn_.type(composite), path, true), scratch_);
        set(id, scratch_);
        return;
    }
    std::vector<Scalar> parts;
    extract_path(values_[composite].first, fn_.type(composite), path, parts);
    set(id, parts);
}

// Computed steps compare the index with each part's number; an out-of-range index selects the last part.
void KernelEmitter::extract_path(std::size_t first, DType type, std::span<const NodeId> path,
                                 std::vector<Scalar>& out) {
    while (!path.empty()) {
        const auto constant = fn_.constant_int(path[0]);
        if (!constant) break;
        const std::uint64_t part = std::min(static_cast<std::uint64_t>(*constant), type.count() - 1);
        first += static_cast<std::size_t>(ir::leaves_before(type, part));
        type = type.part(part);
        path = path.subspan(1);
    }
    if (path.empty()) {
        out.assign(pool_.begin() + static_cast<std::ptrdiff_t>(first),
                   pool_.begin() + static_cast<std::ptrdiff_t>(first + type.leaf_count()));
        return;
    }
    const Id index = clamped_index(path[0], type.count());
    for (std::uint64_t part = type.count(); part-- > 0;) {
        std::vector<Scalar> chosen;
        extract_path(first + static_cast<std::size_t>(ir::leaves_before(type, part)), type.part(part),
                     path.subspan(1), chosen);
        if (out.empty()) {
            out = std::move(chosen);
            continue;
        }
        const Id here = s_.eq(index, s_.u32(static_cast<std::uint32_t>(part)));
        // All parts have the same type, and so the same leaves.
        DType reached = type.part(part);
        for (const NodeId step : path.subspan(1)) {
            const auto k = fn_.constant_int(step);
            reached = reached.part(k ? std::min(static_cast<std::uint64_t>(*k), reached.count() - 1) : 0);
        }
        const ir::Leaves& all = leaves(reached);
        for (std::size_t k = 0; k < out.size(); ++k)
            out[k] = s_.select(all[k].scalar, here, chosen[k], out[k]);
    }
}

}  // namespace volley::codegen::spirv
