// Regions, branches, loops and barriers: one structured control-flow construct for each of the IR's.
//
// If the driver silently terminates loops, iterations are counted per subgroup, because such drivers run its
// lanes in lockstep. The count is in a register while a loop runs, and in the subgroup's cell of shared
// memory between loops, which makes it known to lanes that were not in the loop. Such drivers also do not
// skip code without live lanes: each time control reaches a loop costs at least one iteration, even if no
// lane enters it, and that iteration is counted with the surrounding code.
#include "codegen/spirv/kernel_emitter.hpp"

namespace volley::codegen::spirv {

using ir::NodeId;
using ir::Op;

namespace {

constexpr auto volatile_access = static_cast<std::uint32_t>(spv::MemoryAccessMask::Volatile) |
                                 static_cast<std::uint32_t>(spv::MemoryAccessMask::NonPrivatePointer);

}  // namespace

void KernelEmitter::emit_region(ir::RegionId region) {
    for (const NodeId id : fn_.nodes_of(region)) {
        if (!m_.open()) return;  // code after a jump is unreachable
        emit_node(id);
    }
}

void KernelEmitter::emit_if(NodeId id) {
    const ir::Node& node = fn_[id];
    const bool has_else = node.regions[1] != ir::none && !fn_.nodes_of(node.regions[1]).empty();
    const Id then = m_.new_id();
    const Id merge = m_.new_id();
    const Id otherwise = has_else ? m_.new_id() : merge;
    const Id condition = scalar(fn_.arg(id, 0)).id;
    m_.selection_merge(merge);
    m_.branch_if(condition, then, otherwise);
    bool merges = !has_else;
    m_.label(then);
    emit_region(node.regions[0]);
    if (m_.open()) {
        merges = true;
        m_.branch(merge);
    }
    if (has_else) {
        m_.label(otherwise);
        emit_region(node.regions[1]);
        if (m_.open()) {
            merges = true;
            m_.branch(merge);
        }
    }
    m_.label(merge);
    if (!merges) m_.unreachable();
}

void KernelEmitter::emit_for(NodeId id) {
    const ir::Node& node = fn_[id];
    const ScalarType type = node.type.scalar();
    const bool sign = is_signed_integer(type);
    const Scalar begin = scalar(fn_.arg(id, 0));
    const Scalar end = scalar(fn_.arg(id, 1));
    const Scalar step = scalar(fn_.arg(id, 2));
    const auto known_step = fn_.constant_int(fn_.arg(id, 2));
    if (known_step == 0) return;
    // An unsigned step is never negative, whatever its bits.
    const bool known_down = sign && known_step && *known_step < 0;
    const bool by_one = known_step && (*known_step == 1 || (sign && *known_step == -1));
    const bool free = plan_.counted && plan_.marks[id].free != 0;
    const bool counts = plan_.counted && free_depth_ == 0 && !free;
    if (plan_.counted && free_depth_ == 0 && free) add_count(s_.u32(plan_.marks[id].free));
    if (counts) begin_count();

    // With a step of one, the loop tests the index. Otherwise it tests the distance to the end, which never
    // wraps: it continues while the distance exceeds the step.
    const auto less = [&](Scalar a, Scalar b) { return s_.apply(Op::Lt, type, a, b).id; };
    Id going = 0;
    Id forward = 0;
    const ScalarType plain = size_of(type) == 8 ? ScalarType::U64 : ScalarType::U32;
    Scalar reach = step;
    if (!by_one) {
        if (known_step || !sign) {
            going = known_down ? less(end, begin) : less(begin, end);
            if (!known_step) going = s_.both(going, s_.apply(Op::Ne, type, step, s_.zero(type)).id);
            if (known_down) reach = s_.apply(Op::Neg, plain, step);
        } else {
            forward = less(s_.zero(type), step);
            const Id backward = less(step, s_.zero(type));
            going = s_.either(s_.both(forward, less(begin, end)), s_.both(backward, less(end, begin)));
            reach = s_.select(type, forward, step, s_.apply(Op::Neg, plain, step));
        }
    }

    const Id head = m_.new_id();
    const Id body = m_.new_id();
    const Id next = m_.new_id();
    const Id exit = m_.new_id();
    const Id leave = counts ? m_.new_id() : exit;
    const Id before = m_.block();
    m_.branch(head);
    m_.label(head);
    const Phi low = m_.open_phi(s_.type(type), begin.id, before);
    const Phi high = s_.paired(type) ? m_.open_phi(s_.type(type), begin.high, before) : Phi{};
    const Scalar index = {low.id, high.id};
    const Phi go = by_one ? Phi{} : m_.open_phi(m_.bool_type(), going, before);
    const Id condition = !by_one ? go.id : known_down ? less(end, index) : less(index, end);
    m_.loop_merge(exit, next);
    m_.branch_if(condition, body, leave);
    if (counts) {
        m_.label(leave);
        leave_count();
        m_.branch(exit);
    }
    m_.label(body);
    set(id, index);
    loops_.push_back({id, exit, next, true});
    if (counts) count_iteration(id, exit);
    if (free) ++free_depth_;
    emit_region(node.regions[0]);
    if (free) --free_depth_;
    if (m_.open()) m_.branch(next);
    loops_.pop_back();
    m_.label(next);
    if (!by_one) {
        // The comparison is unsigned, so it holds even if the distance exceeds the signed range.
        const auto distance = [&](Scalar from, Scalar to) { return s_.apply(Op::Sub, plain, to, from); };
        Scalar left;
        if (forward != 0) {
            left = s_.select(plain, forward, distance(index, end), distance(end, index));
        } else {
            left = known_down ? distance(end, index) : distance(index, end);
        }
        m_.close_phi(go, s_.apply(Op::Gt, plain, left, reach).id, next);
    }
    const Scalar following = s_.apply(Op::Add, type, index, step);
    m_.close_phi(low, following.id, next);
    if (s_.paired(type)) m_.close_phi(high, following.high, next);
    m_.branch(head);
    m_.label(exit);
    if (counts && !loops_.empty()) m_.store(iterations_, load_counter());
}

// Always false, but opaque to compilers: an exit that is never taken makes the driver keep variables in phis.
Id KernelEmitter::never() {
    if (never_ == 0) {
        const ModuleBuilder::InPrologue prologue(m_);
        never_ = s_.eq(local_index(), s_.u32(~0u));
    }
    return never_;
}

void KernelEmitter::emit_loop(NodeId id) {
    const bool counts = plan_.counted;
    const Id head = m_.new_id();
    const Id body = m_.new_id();
    const Id next = m_.new_id();
    const Id exit = m_.new_id();
    if (counts) begin_count();
    m_.branch(head);
    m_.label(head);
    m_.loop_merge(exit, next);
    if (target_.loses_loop_values)
        m_.branch_if(never(), exit, body);
    else
        m_.branch(body);
    m_.label(body);
    loops_.push_back({id, exit, next, counts});
    if (counts) count_iteration(id, exit);
    emit_region(fn_[id].regions[0]);
    if (m_.open()) m_.branch(next);
    const bool broken = loops_.back().broken;
    loops_.pop_back();
    m_.label(next);
    m_.branch(head);
    m_.label(exit);
    if (!broken) {
        m_.unreachable();
        return;
    }
    if (counts && !loops_.empty()) m_.store(iterations_, load_counter());
}

void KernelEmitter::emit_jump(NodeId id) {
    const bool counts = plan_.counted && !loops_.empty() && free_depth_ == 0;
    switch (fn_[id].op) {
        case Op::Break:
            if (counts) leave_count();
            loops_.back().broken = true;
            m_.branch(loops_.back().exit);
            break;
        case Op::Continue: m_.branch(loops_.back().next); break;
        default:
            if (counts) leave_count();
            m_.leave();
            break;
    }
}

// ---- counting ----

// Volatile: other lanes of the subgroup write the cell too, and nothing else orders these accesses.
Id KernelEmitter::load_counter() {
    return m_.op(spv::Op::OpLoad, m_.u32_type(), {counter_, volatile_access});
}

void KernelEmitter::store_counter(Id count) {
    m_.statement(spv::Op::OpStore, {counter_, count, volatile_access});
}

void KernelEmitter::begin_count() {
    Id count = load_counter();
    // An outer loop's own iterations are only in the register.
    if (!loops_.empty())
        count = m_.glsl(GLSLstd450UMax, m_.u32_type(), {count, m_.load(m_.u32_type(), iterations_)});
    m_.store(iterations_, count);
}

void KernelEmitter::leave_count() { store_counter(m_.load(m_.u32_type(), iterations_)); }

void KernelEmitter::add_count(Id more) {
    const Id word = m_.u32_type();
    const Id sum = s_.add(load_counter(), more);
    if (loops_.empty()) {
        store_counter(sum);
        return;
    }
    // The register is ahead of the cell, except in lanes that were not in the loop.
    const Id own = s_.add(m_.load(word, iterations_), more);
    const Id most = m_.glsl(GLSLstd450UMax, word, {own, sum});
    m_.store(iterations_, most);
    store_counter(most);
}

void KernelEmitter::count_iteration(NodeId id, Id exit) {
    const Id word = m_.u32_type();
    Id count = m_.load(word, iterations_);
    if (plan_.marks[id].outer) count = m_.glsl(GLSLstd450UMax, word, {count, load_counter()});
    count = s_.add(count, s_.u32(1 + plan_.marks[id].sites));
    m_.store(iterations_, count);
    const Id too_many = m_.new_id();
    const Id go_on = m_.new_id();
    const Id over = s_.ult(s_.u32(plan_.most_iterations), count);
    m_.selection_merge(go_on);
    m_.branch_if(over, too_many, go_on);
    m_.label(too_many);
    leave_count();
    const Id place =
        m_.op(spv::Op::OpAccessChain, m_.pointer_type(spv::StorageClass::PhysicalStorageBuffer, word),
              {reports(), s_.u32(3)});
    store_at(place, s_.u32(id + 1), 4);
    m_.branch(exit);
    m_.label(go_on);
}

// ---- ordering ----

void KernelEmitter::emit_sync(NodeId id) {
    using Mask = spv::MemorySemanticsMask;
    const auto bits = [](Mask mask) { return static_cast<std::uint32_t>(mask); };
    const std::uint32_t order =
        bits(Mask::AcquireRelease) | bits(Mask::MakeAvailable) | bits(Mask::MakeVisible);
    const std::uint32_t buffers = bits(Mask::UniformMemory);
    const std::uint32_t shared = bits(Mask::WorkgroupMemory);
    const auto scope = [&](spv::Scope v) { return s_.u32(static_cast<std::uint32_t>(v)); };
    switch (fn_[id].op) {
        case Op::Barrier:
            m_.statement(spv::Op::OpControlBarrier,
                         {scope(spv::Scope::Workgroup), scope(spv::Scope::Workgroup),
                          s_.u32(order | buffers | shared)});
            return;
        case Op::SubgroupBarrier:
            m_.capability(spv::Capability::GroupNonUniform);
            m_.statement(spv::Op::OpControlBarrier, {scope(spv::Scope::Subgroup), scope(spv::Scope::Subgroup),
                                                     s_.u32(order | buffers | shared)});
            return;
        default: break;
    }
    // Always uses the widest scope, which covers all others: some drivers treat a workgroup fence as a
    // barrier, which lanes that have returned never reach.
    std::uint32_t what = buffers | shared;
    switch (static_cast<ir::FenceScope>(fn_[id].imm)) {
        case ir::FenceScope::Buffer: what = buffers; break;
        case ir::FenceScope::Shared: what = shared; break;
        case ir::FenceScope::All:
        case ir::FenceScope::Group: break;
    }
    m_.statement(spv::Op::OpMemoryBarrier, {scope(spv::Scope::QueueFamily), s_.u32(order | what)});
}

}  // namespace volley::codegen::spirv
