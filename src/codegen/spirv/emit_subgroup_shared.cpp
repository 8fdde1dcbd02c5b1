// Subgroup operations through shared memory, for targets without them: every invocation of the workgroup
// writes its words, all synchronise, each reads its neighbours' words, all synchronise again. This needs
// every invocation, so it is an error in divergent control flow and in grids with partial workgroups.
#include "codegen/spirv/kernel_emitter.hpp"

#include "passes/uniformity.hpp"

#include <algorithm>

namespace volley::codegen::spirv {

using ir::Op;

void KernelEmitter::require_whole_group(std::string_view what) {
    constexpr std::string_view advice =
        "move the operation out of divergent control flow and make the grid a multiple of the local size, "
        "or run the kernel on another device";
    if (plan_.guarded) site_.refuse(what, advice);
    if (!uniformity_) uniformity_.emplace(passes::analyse_uniformity(fn_));
    if (uniformity_->divergent(site_.node) || uniformity_->has_divergent_return()) site_.refuse(what, advice);
    if (exchange_[0] != 0) return;
    const std::uint32_t invocations = variant_.local[0] * variant_.local[1] * variant_.local[2];
    for (Id& array : exchange_) {
        array = m_.variable(spv::StorageClass::Workgroup, m_.array_type(m_.u32_type(), invocations));
        out_.shared_bytes += 4 * invocations;
    }
}

void KernelEmitter::group_barrier() {
    using Mask = spv::MemorySemanticsMask;
    const Id scope = s_.u32(static_cast<std::uint32_t>(spv::Scope::Workgroup));
    m_.statement(spv::Op::OpControlBarrier, {scope, scope,
                                             s_.u32(static_cast<std::uint32_t>(Mask::AcquireRelease) |
                                                    static_cast<std::uint32_t>(Mask::MakeAvailable) |
                                                    static_cast<std::uint32_t>(Mask::MakeVisible) |
                                                    static_cast<std::uint32_t>(Mask::WorkgroupMemory))});
}

Id KernelEmitter::exchange_cell(std::size_t array, Id index) {
    return m_.op(spv::Op::OpAccessChain, m_.pointer_type(spv::StorageClass::Workgroup, m_.u32_type()),
                 {exchange_[array], index});
}

void KernelEmitter::put_down(Scalar words) {
    constexpr auto non_private = static_cast<std::uint32_t>(spv::MemoryAccessMask::NonPrivatePointer);
    m_.statement(spv::Op::OpStore, {exchange_cell(0, local_index()), words.id, non_private});
    if (words.high != 0)
        m_.statement(spv::Op::OpStore, {exchange_cell(1, local_index()), words.high, non_private});
    group_barrier();
}

Scalar KernelEmitter::pick_up(ScalarType type, Id index) {
    constexpr auto non_private = static_cast<std::uint32_t>(spv::MemoryAccessMask::NonPrivatePointer);
    const auto load = [&](std::size_t array) {
        return m_.op(spv::Op::OpLoad, m_.u32_type(), {exchange_cell(array, index), non_private});
    };
    const Id low = load(0);
    return s_.from_words(type, low, size_of(type) == 8 ? load(1) : 0);
}

// Returns the workgroup index of a lane of this subgroup, clamped to the workgroup.
Id KernelEmitter::neighbour(Id from) {
    const std::uint32_t invocations = variant_.local[0] * variant_.local[1] * variant_.local[2];
    const Id index = s_.add(s_.sub(local_index(), lane()), from);
    return m_.glsl(GLSLstd450UMin, m_.u32_type(), {index, s_.u32(invocations - 1)});
}

Scalar KernelEmitter::shuffle_shared(ScalarType type, Scalar x, Id from) {
    require_whole_group("subgroup shuffles");
    put_down(s_.to_words(type, x));
    const Scalar result = pick_up(type, neighbour(from));
    group_barrier();
    return result;
}

Id KernelEmitter::ballot_shared(Id vote) {
    require_whole_group("subgroup ballots");
    const std::uint32_t invocations = variant_.local[0] * variant_.local[1] * variant_.local[2];
    put_down({s_.pick(vote, s_.u32(1), s_.u32(0))});
    std::array<Id, 4> words = {s_.u32(0), s_.u32(0), s_.u32(0), s_.u32(0)};
    const Id first = s_.sub(local_index(), lane());
    for (std::uint32_t k = 0; k < std::min(target_.subgroup_size, invocations); ++k) {
        const Id there = s_.ult(s_.add(first, s_.u32(k)), s_.u32(invocations));
        const Id v = s_.pick(there, pick_up(ScalarType::U32, neighbour(s_.u32(k))).id, s_.u32(0));
        words[k / 32] = s_.or_(words[k / 32], s_.shl(v, s_.u32(k % 32)));
    }
    group_barrier();
    return m_.op(spv::Op::OpCompositeConstruct, m_.vector_type(m_.u32_type(), 4), words);
}

Scalar KernelEmitter::fold_shared(Op combine, spv::GroupOperation kind, ScalarType type, Scalar x) {
    require_whole_group("subgroup arithmetic");
    const std::uint32_t invocations = variant_.local[0] * variant_.local[1] * variant_.local[2];
    put_down(s_.to_words(type, x));
    Scalar sum = identity(combine, type);
    Id begun = m_.boolean(false);
    const Id first = s_.sub(local_index(), lane());
    for (std::uint32_t k = 0; k < std::min(target_.subgroup_size, invocations); ++k) {
        Id takes = s_.ult(s_.add(first, s_.u32(k)), s_.u32(invocations));
        if (kind == spv::GroupOperation::InclusiveScan) takes = s_.both(takes, s_.ule(s_.u32(k), lane()));
        if (kind == spv::GroupOperation::ExclusiveScan) takes = s_.both(takes, s_.ult(s_.u32(k), lane()));
        const Scalar v = pick_up(type, neighbour(s_.u32(k)));
        const Scalar more = s_.select(type, begun, s_.apply(combine, type, sum, v), v);
        sum = s_.select(type, takes, more, sum);
        begun = s_.either(begun, takes);
    }
    group_barrier();
    return sum;
}

}  // namespace volley::codegen::spirv
