// Operations on values: constants, ids, elementwise arithmetic, conversions, composites.
#include "backends/reference/scalar.hpp"
#include "backends/reference/workgroup.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

namespace volley::backends::reference {

using ir::Form;
using ir::Op;

void Workgroup::run_value(NodeId id, const Lanes& active) {
    const ir::Node& node = fn_[id];
    switch (ir::form(node.op)) {
        case Form::Constant:
            for (const std::uint32_t lane : active) value(id, 0, lane) = node.imm;
            return;
        case Form::Zero:
            for (std::size_t leaf = 0; leaf < grid_.leaves[id]->size(); ++leaf) {
                for (const std::uint32_t lane : active) value(id, leaf, lane) = 0;
            }
            return;
        case Form::Parameter: run_param(id, active); return;
        case Form::Root:
            if (node.op == Op::Var) declare_var(id, active);
            return;
        case Form::Builtin: run_builtin(id, active); return;
        case Form::Unary:
        case Form::Binary:
        case Form::Compare:
        case Form::Shift:
        case Form::Ternary:
        case Form::Classify:
        case Form::BitCount: run_elementwise(id, active); return;
        case Form::Select: run_select(id, active); return;
        case Form::Convert: run_convert(id, active); return;
        case Form::Bitcast: run_bitcast(id, active); return;
        case Form::Construct: run_construct(id, active); return;
        case Form::Extract: run_extract(id, active); return;
        case Form::BufferSize: {
            const Bits elements = grid_.args[fn_[fn_.arg(id, 0)].imm].elements;
            const Bits seen = node.type.size() == 4 ? static_cast<std::uint32_t>(elements) : elements;
            for (const std::uint32_t lane : active) value(id, 0, lane) = seen;
            return;
        }
        case Form::Load: run_load(id, active); return;
        case Form::Store: run_store(id, active); return;
        case Form::Atomic:
        case Form::AtomicCas: run_atomic(id, active); return;
        case Form::SubgroupFold:
        case Form::SubgroupLane:
        case Form::SubgroupVote:
        case Form::Ballot:
        case Form::Elect: run_subgroup(id, active); return;
        case Form::Print: run_print(id, active); return;
        case Form::Sync:
        case Form::If:
        case Form::For:
        case Form::Loop:
        case Form::Jump: break;
    }
    fail_internal(cat("'", ir::mnemonic(node.op), "' is not an operation on values"), fn_.name);
}

void Workgroup::run_builtin(NodeId id, const Lanes& active) {
    const LaunchShape& shape = grid_.shape;
    const std::uint32_t width = shape.subgroup_size;
    const auto scalar = [&](auto&& f) {
        for (const std::uint32_t lane : active) value(id, 0, lane) = f(lane);
    };
    const auto vector = [&](auto&& f) {
        for (const std::uint32_t lane : active) {
            const ir::Dim3 v = f(lane);
            for (unsigned d = 0; d < 3; ++d) value(id, d, lane) = v[d];
        }
    };
    switch (fn_[id].op) {
        case Op::GlobalId:
            vector([&](std::uint32_t lane) {
                ir::Dim3 v = local_id(lane);
                for (unsigned d = 0; d < 3; ++d) v[d] += group_[d] * shape.local[d];
                return v;
            });
            return;
        case Op::LocalId: vector([&](std::uint32_t lane) { return local_id(lane); }); return;
        case Op::GroupId: vector([&](std::uint32_t) { return group_; }); return;
        case Op::GlobalSize: vector([&](std::uint32_t) { return shape.global; }); return;
        case Op::LocalSize: vector([&](std::uint32_t) { return shape.local; }); return;
        case Op::GroupCount: vector([&](std::uint32_t) { return grid_.group_count; }); return;
        case Op::LocalIndex: scalar([](std::uint32_t lane) { return lane; }); return;
        case Op::SubgroupId: scalar([&](std::uint32_t lane) { return lane / width; }); return;
        case Op::SubgroupCount:
            scalar([&](std::uint32_t) { return (grid_.group_size + width - 1) / width; });
            return;
        case Op::SubgroupSize: scalar([&](std::uint32_t) { return width; }); return;
        case Op::SubgroupLane: scalar([&](std::uint32_t lane) { return lane % width; }); return;
        default: fail_internal("the builtin is unknown", fn_.name);
    }
}

void Workgroup::run_elementwise(NodeId id, const Lanes& active) {
    const ir::Node& node = fn_[id];
    const auto args = fn_.args(id);
    const NodeId a = args[0];
    const NodeId b = args.size() > 1 ? args[1] : a;
    const NodeId c = args.size() > 2 ? args[2] : a;
    const ir::Leaves& leaves = *grid_.leaves[a];
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
        const ScalarFn f = scalar_function(node.op, leaves[leaf].scalar);
        if (f == nullptr) {
            fail_internal(cat("'", ir::mnemonic(node.op), "' is not defined for ", fn_.type(a).name()),
                          fn_.name);
        }
        for (const std::uint32_t lane : active) {
            value(id, leaf, lane) = f(value(a, leaf, lane), value(b, leaf, lane), value(c, leaf, lane));
        }
    }
}

void Workgroup::run_select(NodeId id, const Lanes& active) {
    const auto args = fn_.args(id);
    const bool one_condition = fn_.type(args[0]).is_scalar();
    for (std::size_t leaf = 0; leaf < grid_.leaves[id]->size(); ++leaf) {
        for (const std::uint32_t lane : active) {
            const bool first = value(args[0], one_condition ? 0 : leaf, lane) != 0;
            value(id, leaf, lane) = value(first ? args[1] : args[2], leaf, lane);
        }
    }
}

void Workgroup::run_convert(NodeId id, const Lanes& active) {
    const NodeId a = fn_.arg(id, 0);
    const ScalarType from = fn_.type(a).scalar();
    const ScalarType to = fn_.type(id).scalar();
    for (std::size_t leaf = 0; leaf < grid_.leaves[id]->size(); ++leaf) {
        for (const std::uint32_t lane : active) {
            value(id, leaf, lane) = convert_scalar(from, to, value(a, leaf, lane));
        }
    }
}

void Workgroup::run_bitcast(NodeId id, const Lanes& active) {
    const NodeId a = fn_.arg(id, 0);
    std::vector<std::byte> memory(fn_.type(a).size());
    for (const std::uint32_t lane : active) {
        for (std::size_t leaf = 0; const ir::Leaf& at : *grid_.leaves[a]) {
            ir::store_scalar(at.scalar, memory.data() + at.offset, value(a, leaf++, lane));
        }
        for (std::size_t leaf = 0; const ir::Leaf& at : *grid_.leaves[id]) {
            value(id, leaf++, lane) = ir::load_scalar(at.scalar, memory.data() + at.offset);
        }
    }
}

void Workgroup::run_construct(NodeId id, const Lanes& active) {
    std::size_t leaf = 0;
    for (const NodeId part : fn_.args(id)) {
        for (std::size_t k = 0; k < grid_.leaves[part]->size(); ++k, ++leaf) {
            for (const std::uint32_t lane : active) value(id, leaf, lane) = value(part, k, lane);
        }
    }
}

void Workgroup::run_extract(NodeId id, const Lanes& active) {
    const NodeId composite = fn_.arg(id, 0);
    for (const std::uint32_t lane : active) {
        AccessTarget place{nullptr, 0, fn_.type(composite)};
        if (const auto fault = follow(id, lane, place, fn_.args(id).subspan(1))) {
            set_fault(id, lane, *fault);
            continue;
        }
        for (std::size_t leaf = 0; leaf < grid_.leaves[id]->size(); ++leaf) {
            value(id, leaf, lane) = value(composite, place.leaf + leaf, lane);
        }
    }
}

}  // namespace volley::backends::reference
