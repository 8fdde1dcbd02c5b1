// Subgroup operations. Types that the target's instructions do not support are converted to words, or
// combined lane by lane with shuffles; missing operations use shared memory (emit_subgroup_shared.cpp).
#include "codegen/api/identity.hpp"
#include "codegen/spirv/kernel_emitter.hpp"

#include "core/fail.hpp"
#include "ir/combine.hpp"

namespace volley::codegen::spirv {

using ir::NodeId;
using ir::Op;

namespace {

spv::GroupOperation group_operation(ir::Scan scan) {
    switch (scan) {
        case ir::Scan::None: return spv::GroupOperation::Reduce;
        case ir::Scan::Inclusive: return spv::GroupOperation::InclusiveScan;
        default: return spv::GroupOperation::ExclusiveScan;
    }
}

spv::Op group_op(Op combine, ScalarType type) {
    const bool f = is_float(type);
    const bool sign = is_signed_integer(type);
    switch (combine) {
        case Op::Add: return f ? spv::Op::OpGroupNonUniformFAdd : spv::Op::OpGroupNonUniformIAdd;
        case Op::Mul: return f ? spv::Op::OpGroupNonUniformFMul : spv::Op::OpGroupNonUniformIMul;
        case Op::Min:
            return f      ? spv::Op::OpGroupNonUniformFMin
                   : sign ? spv::Op::OpGroupNonUniformSMin
                          : spv::Op::OpGroupNonUniformUMin;
        case Op::Max:
            return f      ? spv::Op::OpGroupNonUniformFMax
                   : sign ? spv::Op::OpGroupNonUniformSMax
                          : spv::Op::OpGroupNonUniformUMax;
        case Op::And: return spv::Op::OpGroupNonUniformBitwiseAnd;
        case Op::Or: return spv::Op::OpGroupNonUniformBitwiseOr;
        default: return spv::Op::OpGroupNonUniformBitwiseXor;
    }
}

}  // namespace

Scalar KernelEmitter::identity(Op combine, ScalarType type) {
    return s_.constant(type, identity_bits(combine, type));
}

Id KernelEmitter::group(spv::Op op, Id type, std::initializer_list<std::uint32_t> operands) {
    Words all = {s_.u32(static_cast<std::uint32_t>(spv::Scope::Subgroup))};
    all.insert(all.end(), operands.begin(), operands.end());
    return m_.op(op, type, all);
}

void KernelEmitter::need(spv::Capability capability) {
    m_.capability(spv::Capability::GroupNonUniform);
    m_.capability(capability);
}

// ---- folds and scans ----

void KernelEmitter::emit_fold(NodeId id) {
    const ir::Fold fold = ir::fold_of(fn_[id].op);
    const NodeId operand = fn_.arg(id, 0);
    const ScalarType type = fn_.type(operand).scalar();
    std::array<Scalar, 4> results;
    const std::size_t count = values_[operand].count;
    for (std::size_t k = 0; k < count; ++k)
        results[k] = fold_scalar(fold.combine, group_operation(fold.scan), type, value(operand)[k]);
    set(id, std::span<const Scalar>(results.data(), count));
}

Scalar KernelEmitter::fold_scalar(Op combine, spv::GroupOperation kind, ScalarType type, Scalar x) {
    if (!target_.subgroup_arithmetic) {
        if (target_.subgroup_shuffle && target_.subgroup_ballot) return fold_by_lanes(combine, kind, type, x);
        return fold_shared(combine, kind, type, x);
    }
    need(spv::Capability::GroupNonUniformArithmetic);
    const auto operation = static_cast<std::uint32_t>(kind);
    const Id word = m_.u32_type();
    if (type == ScalarType::Bool) {
        const Id mask = s_.pick(x.id, s_.u32(~0u), s_.u32(0));
        return {s_.ne(group(group_op(combine, ScalarType::U32), word, {operation, mask}), s_.u32(0))};
    }
    if (size_of(type) == 8 && (s_.paired(type) || (is_integer(type) && !target_.subgroup_extended_types)))
        return fold_by_lanes(combine, kind, type, x);
    const Id t = s_.type(type);
    if (is_float(type) && (combine == Op::Min || combine == Op::Max))
        return fold_extreme(combine, kind, type, x);
    const Id result = group(group_op(combine, type), t, {operation, x.id});
    if (type == ScalarType::F16) return {s_.round_to_half(result)};
    if (size_of(type) >= 4) return {result};
    // Narrow integers: sums wrap, and the identity must be that of the narrow type.
    if (kind == spv::GroupOperation::ExclusiveScan && (combine == Op::Min || combine == Op::Max)) {
        const Op inwards = combine;
        return s_.apply(inwards, is_signed_integer(type) ? ScalarType::I32 : ScalarType::U32, {result},
                        identity(combine, type));
    }
    return {s_.narrow(type, result)};
}

// Float min and max must ignore NaN, which the instructions leave undefined. NaN operands are replaced by the
// identity; the result is NaN if there are no other operands.
Scalar KernelEmitter::fold_extreme(Op combine, spv::GroupOperation kind, ScalarType type, Scalar x) {
    const Id t = s_.type(type);
    const auto operation = static_cast<std::uint32_t>(kind);
    const Id nan = s_.apply(Op::IsNan, type, x).id;
    const Scalar number = s_.select(type, nan, identity(combine, type), x);
    const Id result = group(group_op(combine, type), t, {operation, number.id});
    if (kind == spv::GroupOperation::ExclusiveScan) return {result};
    const Id numbers = group(spv::Op::OpGroupNonUniformBitwiseOr, m_.u32_type(),
                             {operation, s_.pick(nan, s_.u32(0), s_.u32(1))});
    const std::uint64_t bits = type == ScalarType::F16   ? 0x7e00u
                               : type == ScalarType::F32 ? 0x7fc00000u
                                                         : 0x7ff8000000000000u;
    return s_.select(type, s_.eq(numbers, s_.u32(0)), s_.constant(type, bits), {result});
}

// Every lane visits all lanes in order and combines those that are active and in its range.
Scalar KernelEmitter::fold_by_lanes(Op combine, spv::GroupOperation kind, ScalarType type, Scalar x) {
    const Id word = m_.u32_type();
    const Id active = ballot(m_.boolean(true));
    const Id own = lane();
    Scalar sum = identity(combine, type);
    Id begun = m_.boolean(false);
    for (std::uint32_t from = 0; from < target_.subgroup_size; ++from) {
        const Scalar v = shuffle(type, x, s_.u32(from));
        const Id bits = m_.extract(active, word, from / 32);
        Id takes = s_.ne(s_.and_(bits, s_.u32(1u << (from % 32))), s_.u32(0));
        if (kind == spv::GroupOperation::InclusiveScan) takes = s_.both(takes, s_.ule(s_.u32(from), own));
        if (kind == spv::GroupOperation::ExclusiveScan) takes = s_.both(takes, s_.ult(s_.u32(from), own));
        // The sum starts at the first value, not at the identity: 0 + -0 would lose the sign.
        const Scalar more = s_.select(type, begun, s_.apply(combine, type, sum, v), v);
        sum = s_.select(type, takes, more, sum);
        begun = s_.either(begun, takes);
    }
    return sum;
}

// ---- lanes ----

Id KernelEmitter::lane() {
    if (lane_ == 0) {
        m_.capability(spv::Capability::GroupNonUniform);
        const ModuleBuilder::InPrologue prologue(m_);
        lane_ = builtin_word(spv::BuiltIn::SubgroupLocalInvocationId);
    }
    return lane_;
}

Scalar KernelEmitter::shuffle(ScalarType type, Scalar x, Id from) {
    if (!target_.subgroup_shuffle) return shuffle_shared(type, x, from);
    need(spv::Capability::GroupNonUniformShuffle);
    const auto moved = [&](Id t, Id v) { return group(spv::Op::OpGroupNonUniformShuffle, t, {v, from}); };
    const Id word = m_.u32_type();
    if (type == ScalarType::Bool) return {s_.ne(moved(word, s_.pick(x.id, s_.u32(1), s_.u32(0))), s_.u32(0))};
    if (s_.paired(type)) return {moved(word, x.id), moved(word, x.high)};
    if (size_of(type) == 8 && is_integer(type) && !target_.subgroup_extended_types) {
        const Scalar words = s_.split(x.id);
        return {s_.join(s_.type(type), moved(word, words.id), moved(word, words.high))};
    }
    return {moved(s_.type(type), x.id)};
}

void KernelEmitter::emit_lane(NodeId id) {
    const NodeId operand = fn_.arg(id, 0);
    const ScalarType type = fn_.type(operand).scalar();
    Id from = scalar(fn_.arg(id, 1)).id;
    if (fn_[id].op == Op::SubgroupShuffleXor) from = s_.xor_(lane(), from);
    // The result of reading an absent lane is arbitrary, but the device must not be asked for one.
    from = m_.glsl(GLSLstd450UMin, m_.u32_type(), {from, s_.u32(target_.subgroup_size - 1)});
    std::array<Scalar, 4> results;
    const std::size_t count = values_[operand].count;
    for (std::size_t k = 0; k < count; ++k) results[k] = shuffle(type, value(operand)[k], from);
    set(id, std::span<const Scalar>(results.data(), count));
}

// ---- votes ----

Id KernelEmitter::ballot(Id vote) {
    const Id four = m_.vector_type(m_.u32_type(), 4);
    if (!target_.subgroup_ballot) return ballot_shared(vote);
    need(spv::Capability::GroupNonUniformBallot);
    return group(spv::Op::OpGroupNonUniformBallot, four, {vote});
}

void KernelEmitter::emit_vote(NodeId id) {
    const Op op = fn_[id].op;
    const Id word = m_.u32_type();
    if (op == Op::SubgroupElect) {
        m_.capability(spv::Capability::GroupNonUniform);
        set(id, {group(spv::Op::OpGroupNonUniformElect, m_.bool_type(), {})});
        return;
    }
    const Id vote = scalar(fn_.arg(id, 0)).id;
    if (op == Op::SubgroupBallot) {
        const Id bits = ballot(vote);
        std::array<Scalar, 4> words;
        for (std::uint32_t k = 0; k < 4; ++k) words[k] = {m_.extract(bits, word, k)};
        set(id, words);
        return;
    }
    const bool all = op == Op::SubgroupAll;
    if (target_.subgroup_vote) {
        need(spv::Capability::GroupNonUniformVote);
        set(id, {group(all ? spv::Op::OpGroupNonUniformAll : spv::Op::OpGroupNonUniformAny, m_.bool_type(),
                       {vote})});
        return;
    }
    // All: no lane votes against.
    const Id bits = ballot(all ? s_.negated(vote) : vote);
    Id any = m_.extract(bits, word, 0);
    for (std::uint32_t k = 1; k < 4; ++k) any = s_.or_(any, m_.extract(bits, word, k));
    set(id, {all ? s_.eq(any, s_.u32(0)) : s_.ne(any, s_.u32(0))});
}

}  // namespace volley::codegen::spirv
