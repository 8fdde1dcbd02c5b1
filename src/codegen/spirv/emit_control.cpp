// Regions, branches, loops, barriers: structured control flow, one construct for each of the IR's.
//
// Where the driver ends loops silently, iterations are counted for a subgroup as a whole, because drivers
// that do so run its lanes in step: the count is kept in a register while a loop runs and in the subgroup's
// own cell of shared memory between loops, so that lanes that were elsewhere learn of it. Such drivers do not
// jump over code for which no lane is left either: each pass of a loop's place costs one round at least,
// whether a lane enters it or not, and that round is counted with the code around it.
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
        if (!m.open()) return;  // nothing runs behind a jump
        emit_node(id);
    }
}

void KernelEmitter::emit_if(NodeId id) {
    const ir::Node& node = fn_[id];
    const bool has_else = node.regions[1] != ir::none && !fn_.nodes_of(node.regions[1]).empty();
    const Id then = m.new_id();
    const Id merge = m.new_id();
    const Id otherwise = has_else ? m.new_id() : merge;
    const Id condition = scalar(fn_.arg(id, 0)).id;
    m.selection_merge(merge);
    m.branch_if(condition, then, otherwise);
    bool merges = !has_else;
    m.label(then);
    emit_region(node.regions[0]);
    if (m.open()) {
        merges = true;
        m.branch(merge);
    }
    if (has_else) {
        m.label(otherwise);
        emit_region(node.regions[1]);
        if (m.open()) {
            merges = true;
            m.branch(merge);
        }
    }
    m.label(merge);
    if (!merges) m.unreachable();
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
    if (plan_.counted && free_depth_ == 0 && free) add_count(s.u32(plan_.marks[id].free));
    if (counts) begin_count();

    // With a step of one the index itself says whether to go on. Else the distance to the end does, which
    // never wraps: on as long as it is larger than the step.
    const auto less = [&](Scalar a, Scalar b) { return s.apply(Op::Lt, type, a, b).id; };
    Id going = 0;
    Id forward = 0;
    const ScalarType plain = size_of(type) == 8 ? ScalarType::U64 : ScalarType::U32;
    Scalar reach = step;
    if (!by_one) {
        if (known_step || !sign) {
            going = known_down ? less(end, begin) : less(begin, end);
            if (!known_step) going = s.both(going, s.apply(Op::Ne, type, step, s.zero(type)).id);
            if (known_down) reach = s.apply(Op::Neg, plain, step);
        } else {
            forward = less(s.zero(type), step);
            const Id backward = less(step, s.zero(type));
            going = s.either(s.both(forward, less(begin, end)), s.both(backward, less(end, begin)));
            reach = s.select(type, forward, step, s.apply(Op::Neg, plain, step));
        }
    }

    const Id head = m.new_id();
    const Id body = m.new_id();
    const Id next = m.new_id();
    const Id exit = m.new_id();
    const Id leave = counts ? m.new_id() : exit;
    const Id before = m.block();
    m.branch(head);
    m.label(head);
    const Phi low = m.open_phi(s.type(type), begin.id, before);
    const Phi high = s.paired(type) ? m.open_phi(s.type(type), begin.high, before) : Phi{};
    const Scalar index = {low.id, high.id};
    const Phi go = by_one ? Phi{} : m.open_phi(m.bool_type(), going, before);
    const Id condition = !by_one ? go.id : known_down ? less(end, index) : less(index, end);
    m.loop_merge(exit, next);
    m.branch_if(condition, body, leave);
    if (counts) {
        m.label(leave);
        leave_count();
        m.branch(exit);
    }
    m.label(body);
    set(id, index);
    loops_.push_back({id, exit, next, true});
    if (counts) count_iteration(id, exit);
    if (free) ++free_depth_;
    emit_region(node.regions[0]);
    if (free) --free_depth_;
    if (m.open()) m.branch(next);
    loops_.pop_back();
    m.label(next);
    if (!by_one) {
        // Compared without sign: right also where the distance passes the signed range.
        const auto distance = [&](Scalar from, Scalar to) { return s.apply(Op::Sub, plain, to, from); };
        Scalar left;
        if (forward != 0) {
            left = s.select(plain, forward, distance(index, end), distance(end, index));
        } else {
            left = known_down ? distance(end, index) : distance(index, end);
        }
        m.close_phi(go, s.apply(Op::Gt, plain, left, reach).id, next);
    }
    const Scalar following = s.apply(Op::Add, type, index, step);
    m.close_phi(low, following.id, next);
    if (s.paired(type)) m.close_phi(high, following.high, next);
    m.branch(head);
    m.label(exit);
    if (counts && !loops_.empty()) m.store(iterations_, load_counter());
}

void KernelEmitter::emit_loop(NodeId id) {
    const bool counts = plan_.counted;
    const Id head = m.new_id();
    const Id body = m.new_id();
    const Id next = m.new_id();
    const Id exit = m.new_id();
    if (counts) begin_count();
    m.branch(head);
    m.label(head);
    m.loop_merge(exit, next);
    m.branch(body);
    m.label(body);
    loops_.push_back({id, exit, next, counts});
    if (counts) count_iteration(id, exit);
    emit_region(fn_[id].regions[0]);
    if (m.open()) m.branch(next);
    const bool broken = loops_.back().broken;
    loops_.pop_back();
    m.label(next);
    m.branch(head);
    m.label(exit);
    if (!broken) {
        m.unreachable();
        return;
    }
    if (counts && !loops_.empty()) m.store(iterations_, load_counter());
}

void KernelEmitter::emit_jump(NodeId id) {
    const bool counts = plan_.counted && !loops_.empty() && free_depth_ == 0;
    switch (fn_[id].op) {
        case Op::Break:
            if (counts) leave_count();
            loops_.back().broken = true;
            m.branch(loops_.back().exit);
            break;
        case Op::Continue: m.branch(loops_.back().next); break;
        default:
            if (counts) leave_count();
            m.return_();
            break;
    }
}

// ---- counting ----

// Volatile: other lanes of the subgroup write the cell too, and nothing else says so.
Id KernelEmitter::load_counter() { return m.op(spv::Op::OpLoad, m.u32_type(), {counter_, volatile_access}); }

void KernelEmitter::store_counter(Id count) {
    m.statement(spv::Op::OpStore, {counter_, count, volatile_access});
}

void KernelEmitter::begin_count() {
    Id count = load_counter();
    // An outer loop's own iterations are in the register only.
    if (!loops_.empty())
        count = m.glsl(GLSLstd450UMax, m.u32_type(), {count, m.load(m.u32_type(), iterations_)});
    m.store(iterations_, count);
}

void KernelEmitter::leave_count() { store_counter(m.load(m.u32_type(), iterations_)); }

void KernelEmitter::add_count(Id more) {
    const Id word = m.u32_type();
    const Id sum = s.add(load_counter(), more);
    if (loops_.empty()) {
        store_counter(sum);
        return;
    }
    // The register is ahead of the cell, except for lanes that were elsewhere.
    const Id own = s.add(m.load(word, iterations_), more);
    const Id most = m.glsl(GLSLstd450UMax, word, {own, sum});
    m.store(iterations_, most);
    store_counter(most);
}

void KernelEmitter::count_iteration(NodeId id, Id exit) {
    const Id word = m.u32_type();
    Id count = m.load(word, iterations_);
    if (plan_.marks[id].outer) count = m.glsl(GLSLstd450UMax, word, {count, load_counter()});
    count = s.add(count, s.u32(1 + plan_.marks[id].sites));
    m.store(iterations_, count);
    const Id too_many = m.new_id();
    const Id go_on = m.new_id();
    const Id over = s.ult(s.u32(plan_.most_iterations), count);
    m.selection_merge(go_on);
    m.branch_if(over, too_many, go_on);
    m.label(too_many);
    leave_count();
    const Id place =
        m.op(spv::Op::OpAccessChain, m.pointer_type(spv::StorageClass::PhysicalStorageBuffer, word),
             {reports(), s.u32(3)});
    store_at(place, s.u32(id + 1), 4);
    m.branch(exit);
    m.label(go_on);
}

// ---- order ----

void KernelEmitter::emit_sync(NodeId id) {
    using Mask = spv::MemorySemanticsMask;
    const auto bits = [](Mask mask) { return static_cast<std::uint32_t>(mask); };
    const std::uint32_t order =
        bits(Mask::AcquireRelease) | bits(Mask::MakeAvailable) | bits(Mask::MakeVisible);
    const std::uint32_t buffers = bits(Mask::UniformMemory);
    const std::uint32_t shared = bits(Mask::WorkgroupMemory);
    const auto scope = [&](spv::Scope v) { return s.u32(static_cast<std::uint32_t>(v)); };
    switch (fn_[id].op) {
        case Op::Barrier:
            m.statement(spv::Op::OpControlBarrier,
                        {scope(spv::Scope::Workgroup), scope(spv::Scope::Workgroup),
                         s.u32(order | buffers | shared)});
            return;
        case Op::SubgroupBarrier:
            m.capability(spv::Capability::GroupNonUniform);
            m.statement(spv::Op::OpControlBarrier, {scope(spv::Scope::Subgroup), scope(spv::Scope::Subgroup),
                                                    s.u32(order | buffers | shared)});
            return;
        default: break;
    }
    // Always the widest scope, which is enough for each: some drivers take a fence of the workgroup for a
    // barrier, and lanes that have returned do not come to it.
    std::uint32_t what = buffers | shared;
    switch (static_cast<ir::FenceScope>(fn_[id].imm)) {
        case ir::FenceScope::Buffer: what = buffers; break;
        case ir::FenceScope::Shared: what = shared; break;
        case ir::FenceScope::Image: what = bits(Mask::ImageMemory); break;
        case ir::FenceScope::All:
        case ir::FenceScope::Group: break;
    }
    m.statement(spv::Op::OpMemoryBarrier, {scope(spv::Scope::QueueFamily), s.u32(order | what)});
}

}  // namespace volley::codegen::spirv
