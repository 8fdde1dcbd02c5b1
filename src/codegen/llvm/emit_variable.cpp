// Local variables. Each leaf has a stack slot, which LLVM promotes to registers. A variable with a computed
// index lives in memory, leaf by leaf, with a leaf's lanes contiguous, so a uniform index is still a vector
// access.
#include "codegen/llvm/kernel_emitter.hpp"
#include "ir/leaves.hpp"

#include <algorithm>

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;

std::pair<std::uint64_t, std::vector<KernelEmitter::Step>> KernelEmitter::leaf_path(NodeId access) {
    const Op op = fn_[access].op;
    DType t = fn_.type(fn_.arg(access, 0));
    std::uint64_t first = 0;
    std::vector<Step> steps;
    for (const NodeId index : fn_.args(access).subspan(ir::path_start(op))) {
        const std::optional<std::int64_t> constant = fn_.constant_int(index);
        if (t.is_struct()) {
            const auto field = static_cast<std::uint64_t>(*constant);
            for (std::uint64_t f = 0; f < field; ++f) first += t.part(f).leaf_count();
            t = t.part(field);
            continue;
        }
        const std::uint64_t scale = t.part(0).leaf_count();
        if (constant && *constant >= 0 && static_cast<std::uint64_t>(*constant) < t.count()) {
            first += static_cast<std::uint64_t>(*constant) * scale;
        } else {
            steps.push_back({index, scale, t.count() - 1});
        }
        t = t.part(0);
    }
    return {first, std::move(steps)};
}

Type KernelEmitter::slot_type(ScalarType s, bool uniform) const {
    if (s == ScalarType::Bool) return uniform ? c.i8 : c.mask_type();
    return uniform ? c.scalar(s) : c.lanes(c.scalar(s));
}

Val KernelEmitter::slot_to_value(Val stored, ScalarType s) {
    if (s != ScalarType::Bool) return stored;
    if (!c.is_vector(stored)) return c.icmp(LLVMIntNE, stored, c.zero(c.L.TypeOf(stored)));
    return c.to_mask(stored);
}

Val KernelEmitter::value_to_slot(Val v, ScalarType s) {
    if (s != ScalarType::Bool) return v;
    return c.is_vector(v) ? c.from_mask(v) : c.zext(v, c.i8);
}

void KernelEmitter::declare_variables() {
    ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
        const ir::Node& node = fn_[id];
        if (node.op == Op::Var) {
            Variable& v = variables_[id];
            v.type = node.type;
            v.uniform = c.W == 1 || (segments_ ? segments_->group_variable(id) || lanes_.lane_uniform(id)
                                               : lanes_.lane_uniform(id));
        } else if ((node.op == Op::Load || node.op == Op::Store) && fn_[fn_.arg(id, 0)].op == Op::Var) {
            if (!leaf_path(id).second.empty()) variables_[fn_.arg(id, 0)].indexed = true;
        }
    });
    for (auto& [id, v] : variables_) {
        const std::vector<ScalarType> types = ir::leaf_scalars(v.type);
        if (types.size() > 64) v.indexed = true;  // too many for registers
        v.spilled = segments_ && segments_->spilled_variable(id) && !segments_->group_variable(id);
        unsigned widest = 1;
        for (const ScalarType s : types) widest = std::max(widest, static_cast<unsigned>(size_of(s)));
        v.slot_size = widest * (v.uniform ? 1 : c.W);
        if (v.spilled) {
            v.spill = spill_bytes_;
            spill_bytes_ += chunks_ * ((types.size() * v.slot_size + 63) / 64 * 64);
        }
        if (v.indexed) {
            if (!v.spilled) v.memory = c.slot_bytes(types.size() * v.slot_size, 64);
        } else {
            for (const ScalarType s : types) v.slots.push_back(c.slot(slot_type(s, v.uniform)));
        }
    }
}

void KernelEmitter::reset_variable(NodeId id) {
    Variable& v = variables_.at(id);
    const std::vector<ScalarType> types = ir::leaf_scalars(v.type);
    // Initialises all lanes, live or not: a lane that does not run the declaration cannot access the
    // variable.
    for (std::size_t k = 0; k < types.size(); ++k) {
        const Type t = v.indexed && types[k] == ScalarType::Bool ? (v.uniform ? c.i8 : c.lanes(c.i8))
                                                                 : slot_type(types[k], v.uniform);
        const Val p = v.indexed ? c.gep(v.memory, static_cast<std::int64_t>(k) * v.slot_size) : v.slots[k];
        c.store(c.zero(t), p, v.indexed ? static_cast<unsigned>(size_of(types[k])) : 0);
    }
}

std::pair<Val, Val> KernelEmitter::variable_address(const Variable& v, std::uint64_t first,
                                                    const std::vector<Step>& steps) {
    Val base = c.gep(v.memory, static_cast<std::int64_t>(first) * v.slot_size);
    Val offsets = nullptr;
    // Clamps the index: an out-of-range index must not leave the variable.
    const auto clamped = [&](Val index, std::uint64_t last) {
        const Val limit = c.c(c.L.TypeOf(index), static_cast<std::int64_t>(last));
        return c.select(c.icmp(LLVMIntULT, index, limit), index, limit);
    };
    for (const Step& step : steps) {
        const std::uint64_t scale = step.scale * v.slot_size;
        if (leaf(step.index).uniform()) {
            base = c.gep(base, c.mul(clamped(index64(step.index), step.last), c.u64(scale)));
        } else {
            const Val index = clamped(index64_lanes(step.index), step.last);
            const Val term = c.mul(index, c.c(c.lanes(c.i64), static_cast<std::int64_t>(scale)));
            offsets = offsets == nullptr ? term : c.add(offsets, term);
        }
    }
    return {base, offsets};
}

void KernelEmitter::emit_variable_load(NodeId id) {
    const Variable& v = variables_.at(fn_.arg(id, 0));
    const auto [first, steps] = leaf_path(id);
    const std::vector<ScalarType> types = ir::leaf_scalars(fn_.type(id));
    Leaves leaves;
    if (!v.indexed) {
        for (std::size_t k = 0; k < types.size(); ++k) {
            const Val stored = c.load(slot_type(types[k], v.uniform), v.slots[first + k], 0);
            const Val x = slot_to_value(stored, types[k]);
            leaves.push_back(v.uniform ? Leaf::of_scalar(x) : Leaf::of_lanes(x));
        }
    } else {
        const auto [base, offsets] = variable_address(v, first, steps);
        for (std::size_t k = 0; k < types.size(); ++k) {
            const Type t = c.memory_scalar(types[k]);
            const auto size = static_cast<unsigned>(size_of(types[k]));
            const Val at = c.gep(base, static_cast<std::int64_t>(k) * v.slot_size);
            if (offsets == nullptr) {
                leaves.push_back(to_value(c.load(v.uniform ? t : c.lanes(t), at, size), types[k]));
            } else {
                const Val lane_offsets = v.uniform ? offsets : c.add(offsets, c.iota(c.i64, size));
                leaves.push_back(
                    to_value(c.gather(c.lanes(t), c.gep(at, lane_offsets), size, mask()), types[k]));
            }
        }
    }
    if (lane_uniform(id)) {
        // All live lanes agree, but lane 0 may be inactive.
        const Val first_live = masked_ && !v.uniform ? c.first_active(mask()) : c.u32(0);
        for (Leaf& l : leaves) l = Leaf::of_scalar(l.uniform() ? l.scalar : c.extract(l.lanes, first_live));
    } else if (leaves.size() == 1 && !leaves[0].uniform() && is_integer(types[0]) &&
               shape(id).kind == passes::LaneShape::Affine) {
        leaves[0].scalar = c.extract(leaves[0].lanes, 0u);
    }
    set(id, std::move(leaves));
}

void KernelEmitter::emit_variable_store(NodeId id) {
    const Variable& v = variables_.at(fn_.arg(id, 0));
    const Leaves& in = value(fn_.arg(id, 1));
    const auto [first, steps] = leaf_path(id);
    const std::vector<ScalarType> types = ir::leaf_scalars(fn_.type(fn_.arg(id, 1)));
    const Val m = v.uniform ? nullptr : mask();
    if (!v.indexed) {
        for (std::size_t k = 0; k < types.size(); ++k) {
            Val x = v.uniform ? scalar(in[k]) : lanes(in[k]);
            if (m != nullptr) {
                const Val old =
                    slot_to_value(c.load(slot_type(types[k], false), v.slots[first + k], 0), types[k]);
                x = c.select(m, x, old);
            }
            c.store(value_to_slot(x, types[k]), v.slots[first + k], 0);
        }
        return;
    }
    const auto [base, offsets] = variable_address(v, first, steps);
    for (std::size_t k = 0; k < types.size(); ++k) {
        const auto size = static_cast<unsigned>(size_of(types[k]));
        const Val at = c.gep(base, static_cast<std::int64_t>(k) * v.slot_size);
        if (v.uniform) {
            c.store(to_memory(scalar(in[k]), types[k]), at, size);
        } else if (offsets == nullptr) {
            c.masked_store(to_memory(lanes(in[k]), types[k]), at, size, m);
        } else {
            c.scatter(to_memory(lanes(in[k]), types[k]), c.gep(at, c.add(offsets, c.iota(c.i64, size))), size,
                      m);
        }
    }
}

}  // namespace volley::codegen::llvm
