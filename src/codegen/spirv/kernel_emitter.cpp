// The kernel as a whole: arguments, ids, execution modes, the guard at the grid's edge.
#include "codegen/spirv/kernel_emitter.hpp"

#include "core/fail.hpp"

#include <bit>
#include <utility>

namespace volley::codegen::spirv {

using ir::NodeId;
using ir::Op;

KernelEmitter::KernelEmitter(const ir::Function& fn, const Variant& variant, const Target& target)
    : fn_(fn),
      variant_(variant),
      target_(target),
      site_{fn, target.device},
      plan_(fn, variant, target),
      s_(m_, target, site_),
      values_(fn.nodes.size()),
      memory_(fn.nodes.size()),
      addresses_(fn.params.size()) {
    pool_.reserve(fn.nodes.size() + 64);
}

Module KernelEmitter::emit() {
    m_.capability(spv::Capability::Shader);
    m_.capability(spv::Capability::VulkanMemoryModel);
    m_.capability(spv::Capability::PhysicalStorageBufferAddresses);
    out_.reports = plan_.prints || plan_.counted;
    out_.needs_full_subgroups = plan_.subgroups;
    declare_arguments();

    Id end = 0;
    if (plan_.guarded) {
        const Id body = m_.new_id();
        end = m_.new_id();
        const Id inside = inside_grid();
        m_.selection_merge(end);
        m_.branch_if(inside, body, end);
        m_.label(body);
    }
    if (plan_.counted) {
        const Id index = [&] {
            const ModuleBuilder::InPrologue prologue(m_);
            return m_.op(spv::Op::OpUDiv, m_.u32_type(), {local_index(), s_.u32(target_.subgroup_size)});
        }();
        const std::uint32_t invocations = variant_.local[0] * variant_.local[1] * variant_.local[2];
        const std::uint32_t subgroups = (invocations - 1) / target_.subgroup_size + 1;
        counters_ = m_.variable(spv::StorageClass::Workgroup, m_.array_type(m_.u32_type(), subgroups));
        out_.shared_bytes += 4 * subgroups;
        iterations_ = m_.local(m_.u32_type());
        const ModuleBuilder::InPrologue prologue(m_);
        counter_ = m_.op(spv::Op::OpAccessChain, m_.pointer_type(spv::StorageClass::Workgroup, m_.u32_type()),
                         {counters_, index});
        store_counter(s_.u32(plan_.sites));
    }
    emit_region(fn_.body);
    if (end != 0) {
        if (m_.open()) m_.branch(end);
        m_.label(end);
    }
    if (m_.open()) m_.leave();
    declare_modes();
    // All invocations are in one dimension. Ids are computed from the index anyway, and drivers that split
    // rows rather than workgroups into subgroups then split them as docs/ir.md requires.
    const std::array<std::uint32_t, 3> local = {variant_.local[0] * variant_.local[1] * variant_.local[2], 1,
                                                1};
    out_.words = m_.finish(local);
    return std::move(out_);
}

void KernelEmitter::set(NodeId id, std::span<const Scalar> leaves) {
    values_[id] = {static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(leaves.size())};
    // `leaves` may point into the pool itself.
    if (leaves.data() >= pool_.data() && leaves.data() < pool_.data() + pool_.size()) {
        const auto first = static_cast<std::size_t>(leaves.data() - pool_.data());
        for (std::size_t k = 0; k < leaves.size(); ++k) pool_.push_back(Scalar(pool_[first + k]));
    } else {
        pool_.insert(pool_.end(), leaves.begin(), leaves.end());
    }
}

// ---- arguments ----

void KernelEmitter::declare_arguments() {
    std::vector<BlockMember> members;
    const Id word = m_.u32_type();
    const Id two = m_.vector_type(word, 2);
    std::uint32_t offset = 0;
    const auto field = [&](FieldKind kind, std::uint32_t parameter, std::uint32_t size, Id type) {
        out_.fields.push_back({kind, parameter, offset, size});
        members.push_back({type, offset});
        offset = (offset + size + 3) / 4 * 4;
    };
    for (std::uint32_t p = 0; p < fn_.params.size(); ++p) {
        if (plan_.uses[p].address) field(FieldKind::Address, p, 8, two);
    }
    for (std::uint32_t p = 0; p < fn_.params.size(); ++p) {
        if (plan_.uses[p].elements) field(FieldKind::Elements, p, 8, two);
    }
    if (out_.reports) field(FieldKind::Reports, 0, 8, two);
    if (plan_.global_size) field(FieldKind::GlobalSize, 0, 12, m_.vector_type(word, 3));
    if (variant_.based) field(FieldKind::GroupBase, 0, 12, m_.vector_type(word, 3));
    // With values in memory, only addresses and sizes are pushed: one load per value, not per argument.
    std::vector<std::uint32_t> values;
    for (std::uint32_t p = 0; p < fn_.params.size(); ++p) {
        if (plan_.uses[p].value && fn_.params[p].type.size() > 0) values.push_back(p);
    }
    const bool in_memory = variant_.values_apart && !values.empty();
    const bool apart = in_memory && offset + 8 <= target_.push_bytes;
    if (apart) field(FieldKind::ValueBlock, 0, 8, two);
    first_value_ = members.size();
    const std::uint32_t pushed = apart ? std::exchange(offset, 0) : 0;
    for (const std::uint32_t p : values) {
        const auto size = static_cast<std::uint32_t>(fn_.params[p].type.size());
        field(FieldKind::Value, p, size, m_.array_type(word, (size + 3) / 4, 4));
    }
    out_.value_bytes = apart ? std::exchange(offset, pushed) : 0;
    out_.argument_bytes = offset;
    if (members.empty()) return;
    const std::span<const BlockMember> all = members;
    const Id block = m_.block_type(apart ? all.first(first_value_) : all);
    out_.indirect = offset > target_.push_bytes || (in_memory && !apart);
    const ModuleBuilder::InPrologue prologue(m_);
    if (!out_.indirect) {
        arguments_ = m_.variable(spv::StorageClass::PushConstant, block);
    } else {
        const BlockMember address{two, 0};
        const Id push = m_.variable(spv::StorageClass::PushConstant, m_.block_type({&address, 1}));
        const Id pointer = m_.op(spv::Op::OpAccessChain,
                                 m_.pointer_type(spv::StorageClass::PushConstant, two), {push, s_.u32(0)});
        arguments_ = block_at(block, m_.load(two, pointer));
    }
    if (apart) {
        const Id address = load_argument(field_of(FieldKind::ValueBlock), two);
        value_block_ = block_at(m_.block_type(all.subspan(first_value_)), address);
    }
}

Id KernelEmitter::block_at(Id block, Id address) {
    return m_.op(spv::Op::OpBitcast, m_.pointer_type(spv::StorageClass::PhysicalStorageBuffer, block),
                 {address});
}

std::size_t KernelEmitter::field_of(FieldKind kind, std::uint32_t parameter) const {
    for (std::size_t k = 0; k < out_.fields.size(); ++k) {
        if (out_.fields[k].kind == kind && out_.fields[k].parameter == parameter) return k;
    }
    fail_internal("an argument that was not planned", fn_.name);
}

Id KernelEmitter::load_argument(std::size_t field, Id type, std::uint32_t word) {
    const bool value = out_.fields[field].kind == FieldKind::Value;
    const bool apart = value && value_block_ != 0;
    const bool in_memory = out_.indirect || apart;
    const Id pointer_type = m_.pointer_type(
        in_memory ? spv::StorageClass::PhysicalStorageBuffer : spv::StorageClass::PushConstant, type);
    const Id block = apart ? value_block_ : arguments_;
    const Id member = s_.u32(static_cast<std::uint32_t>(apart ? field - first_value_ : field));
    const Id pointer = value ? m_.op(spv::Op::OpAccessChain, pointer_type, {block, member, s_.u32(word)})
                             : m_.op(spv::Op::OpAccessChain, pointer_type, {block, member});
    if (!in_memory) return m_.load(type, pointer);
    return m_.op(spv::Op::OpLoad, type,
                 {pointer, static_cast<std::uint32_t>(spv::MemoryAccessMask::Aligned), 4});
}

Id KernelEmitter::address_of(std::uint32_t parameter) {
    if (addresses_[parameter] == 0) {
        const ModuleBuilder::InPrologue prologue(m_);
        addresses_[parameter] =
            load_argument(field_of(FieldKind::Address, parameter), m_.vector_type(m_.u32_type(), 2));
    }
    return addresses_[parameter];
}

Id KernelEmitter::reports() {
    if (reports_ == 0) {
        const ModuleBuilder::InPrologue prologue(m_);
        const Id word = m_.u32_type();
        const BlockMember members[] = {
            {word, 0}, {word, 4}, {word, 8}, {word, 12}, {m_.runtime_array_type(word, 4), 16}};
        const Id pointer = m_.pointer_type(spv::StorageClass::PhysicalStorageBuffer, m_.block_type(members));
        const Id address = load_argument(field_of(FieldKind::Reports), m_.vector_type(word, 2));
        reports_ = m_.op(spv::Op::OpBitcast, pointer, {address});
    }
    return reports_;
}

// ---- ids ----

Id KernelEmitter::builtin_word(spv::BuiltIn builtin) {
    return m_.load(m_.u32_type(), m_.builtin(builtin, m_.u32_type()));
}

std::array<Id, 3> KernelEmitter::builtin_vector(spv::BuiltIn builtin) {
    const Id type = m_.vector_type(m_.u32_type(), 3);
    const Id vector = m_.load(type, m_.builtin(builtin, type));
    return {m_.extract(vector, m_.u32_type(), 0), m_.extract(vector, m_.u32_type(), 1),
            m_.extract(vector, m_.u32_type(), 2)};
}

std::span<const Id, 3> KernelEmitter::global_size() {
    if (global_size_[0] == 0) {
        const ModuleBuilder::InPrologue prologue(m_);
        const Id vector = load_argument(field_of(FieldKind::GlobalSize), m_.vector_type(m_.u32_type(), 3));
        for (std::uint32_t d = 0; d < 3; ++d) global_size_[d] = m_.extract(vector, m_.u32_type(), d);
    }
    return global_size_;
}

std::span<const Id, 3> KernelEmitter::group_id() {
    if (group_id_[0] == 0) {
        const ModuleBuilder::InPrologue prologue(m_);
        group_id_ = builtin_vector(spv::BuiltIn::WorkgroupId);
        if (variant_.based) {
            const Id base = load_argument(field_of(FieldKind::GroupBase), m_.vector_type(m_.u32_type(), 3));
            for (std::uint32_t d = 0; d < 3; ++d)
                group_id_[d] = s_.add(group_id_[d], m_.extract(base, m_.u32_type(), d));
        }
    }
    return group_id_;
}

Id KernelEmitter::local_index() {
    if (local_index_ == 0) {
        const ModuleBuilder::InPrologue prologue(m_);
        const std::uint32_t invocations = variant_.local[0] * variant_.local[1] * variant_.local[2];
        local_index_ = invocations == 1 ? s_.u32(0) : builtin_word(spv::BuiltIn::LocalInvocationIndex);
    }
    return local_index_;
}

// Computed from the index, which is the cheaper builtin; dimensions of size one cost nothing.
std::span<const Id, 3> KernelEmitter::local_id() {
    if (local_id_[0] != 0) return local_id_;
    const ModuleBuilder::InPrologue prologue(m_);
    const auto quotient = [&](Id v, std::uint32_t by) {
        if (std::has_single_bit(by))
            return s_.shr(v, s_.u32(static_cast<std::uint32_t>(std::countr_zero(by))));
        return m_.op(spv::Op::OpUDiv, m_.u32_type(), {v, s_.u32(by)});
    };
    const auto rest = [&](Id v, std::uint32_t by) {
        if (std::has_single_bit(by)) return s_.and_(v, s_.u32(by - 1));
        return m_.op(spv::Op::OpUMod, m_.u32_type(), {v, s_.u32(by)});
    };
    Id index = local_index();
    std::uint32_t above = variant_.local[1] * variant_.local[2];  // invocations in the remaining dimensions
    for (std::size_t d = 0; d < 3; ++d) {
        const std::uint32_t size = variant_.local[d];
        if (d > 0) above /= size;
        if (size == 1) {
            local_id_[d] = s_.u32(0);
        } else if (above == 1) {
            local_id_[d] = index;
        } else {
            local_id_[d] = rest(index, size);
            index = quotient(index, size);
        }
    }
    return local_id_;
}

std::span<const Id, 3> KernelEmitter::global_id() {
    if (global_id_[0] != 0) return global_id_;
    const ModuleBuilder::InPrologue prologue(m_);
    for (std::size_t d = 0; d < 3; ++d) {
        const std::uint32_t size = variant_.local[d];
        global_id_[d] = group_id()[d];
        if (size > 1) global_id_[d] = s_.add(s_.mul(group_id()[d], s_.u32(size)), local_id()[d]);
    }
    return global_id_;
}

Id KernelEmitter::inside_grid() {
    Id inside = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        if (variant_.local[d] == 1) continue;
        const Id here = s_.ult(global_id()[d], global_size()[d]);
        inside = inside == 0 ? here : s_.both(inside, here);
    }
    return inside;
}

// ---- modes ----

void KernelEmitter::declare_modes() {
    const auto mode = [&](bool requested, spv::ExecutionMode execution, spv::Capability capability,
                          std::uint32_t width) {
        if (!requested) return;
        m_.capability(capability);
        m_.execution_mode(execution, {width});
    };
    using spv::Capability;
    using spv::ExecutionMode;
    const bool f16 = m_.has_float(16);
    const bool f32 = m_.has_float(32);
    const bool f64 = m_.has_float(64);
    mode(f16 && target_.keeps_nan_f16, ExecutionMode::SignedZeroInfNanPreserve,
         Capability::SignedZeroInfNanPreserve, 16);
    mode(f32 && target_.keeps_nan_f32, ExecutionMode::SignedZeroInfNanPreserve,
         Capability::SignedZeroInfNanPreserve, 32);
    mode(f64 && target_.keeps_nan_f64, ExecutionMode::SignedZeroInfNanPreserve,
         Capability::SignedZeroInfNanPreserve, 64);
    mode(f16 && target_.rounds_even_f16, ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE, 16);
    mode(f32 && target_.rounds_even_f32, ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE, 32);
    mode(f64 && target_.rounds_even_f64, ExecutionMode::RoundingModeRTE, Capability::RoundingModeRTE, 64);
    mode(f32 && target_.keeps_subnormals_f32, ExecutionMode::DenormPreserve, Capability::DenormPreserve, 32);
}

}  // namespace volley::codegen::spirv
