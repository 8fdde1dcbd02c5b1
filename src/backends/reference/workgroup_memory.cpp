// Accesses to buffers, shared memory and variables; atomics; print.
#include "backends/common/print.hpp"
#include "backends/reference/scalar.hpp"
#include "backends/reference/workgroup.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "ir/combine.hpp"

#include <algorithm>

namespace volley::backends::reference {

using ir::Op;

void Workgroup::declare_var(NodeId id, const Lanes& active) {
    for (const std::uint32_t lane : active) {
        std::byte* const start = vars_.data() + grid_.var_bytes * lane + grid_.memory_slot[id];
        std::fill_n(start, fn_.type(id).size(), std::byte{0});
    }
}

void Workgroup::run_param(NodeId id, const Lanes& active) {
    const auto* const from = static_cast<const std::byte*>(grid_.args[fn_[id].imm].data);
    for (std::size_t leaf = 0; const ir::Leaf& at : *grid_.leaves[id]) {
        const Bits bits = ir::load_scalar(at.scalar, from + at.offset);
        for (const std::uint32_t lane : active) value(id, leaf, lane) = bits;
        ++leaf;
    }
}

std::optional<Workgroup::Fault> Workgroup::follow(NodeId id, std::uint32_t lane, AccessTarget& place,
                                                  std::span<const NodeId> path) const {
    for (const NodeId step : path) {
        const std::int64_t index = as_int64(fn_.type(step).scalar(), value(step, 0, lane));
        // An unsigned 64-bit index beyond 2^63 becomes negative, and is out of bounds either way.
        const std::uint64_t count = place.type.count();
        if (index < 0 || static_cast<std::uint64_t>(index) >= count)
            return Fault{id, index, count, place.type};
        const auto part = static_cast<std::uint64_t>(index);
        if (place.memory != nullptr) place.memory += place.type.part_offset(part);
        place.leaf += ir::leaves_before(place.type, part);
        place.type = place.type.part(part);
    }
    return std::nullopt;
}

std::variant<Workgroup::AccessTarget, Workgroup::Fault> Workgroup::reach(NodeId id, std::uint32_t lane) {
    const NodeId root = fn_.arg(id, 0);
    const ir::Node& node = fn_[root];
    auto path = fn_.args(id).subspan(ir::path_start(fn_[id].op));
    AccessTarget place;
    place.type = node.type;
    switch (node.op) {
        case Op::Buffer: {
            const Arg& arg = grid_.args[node.imm];
            const std::int64_t index = as_int64(fn_.type(path[0]).scalar(), value(path[0], 0, lane));
            if (index < 0 || static_cast<std::uint64_t>(index) >= arg.elements) {
                return Fault{id, index, arg.elements, node.type};
            }
            place.memory =
                static_cast<std::byte*>(arg.data) + static_cast<std::uint64_t>(index) * node.type.size();
            path = path.subspan(1);
            break;
        }
        case Op::Shared: place.memory = shared_.data() + grid_.memory_slot[root]; break;
        default: place.memory = vars_.data() + grid_.var_bytes * lane + grid_.memory_slot[root]; break;
    }
    if (const auto fault = follow(id, lane, place, path)) return *fault;
    return place;
}

Workgroup::AccessTarget Workgroup::reach_or_report(NodeId id, std::uint32_t lane) {
    const auto place = reach(id, lane);
    if (const Fault* const fault = std::get_if<Fault>(&place)) report(*fault, lane);
    return std::get<AccessTarget>(place);
}

void Workgroup::run_load(NodeId id, const Lanes& active) {
    const ir::Leaves& leaves = *grid_.leaves[id];
    for (const std::uint32_t lane : active) {
        const auto place = reach(id, lane);
        if (const Fault* const fault = std::get_if<Fault>(&place)) {
            set_fault(id, lane, *fault);
            continue;
        }
        for (std::size_t leaf = 0; const ir::Leaf& at : leaves) {
            value(id, leaf++, lane) =
                ir::load_scalar(at.scalar, std::get<AccessTarget>(place).memory + at.offset);
        }
    }
}

void Workgroup::run_store(NodeId id, const Lanes& active) {
    const NodeId stored = fn_.arg(id, 1);
    const ir::Leaves& leaves = *grid_.leaves[stored];
    for (const std::uint32_t lane : active) {
        const AccessTarget place = reach_or_report(id, lane);
        // Store leaf by leaf: struct padding is not part of the value and stays unchanged.
        for (std::size_t leaf = 0; const ir::Leaf& at : leaves) {
            ir::store_scalar(at.scalar, place.memory + at.offset, value(stored, leaf++, lane));
        }
    }
}

void Workgroup::run_atomic(NodeId id, const Lanes& active) {
    const Op op = fn_[id].op;
    const ScalarType type = fn_.type(id).scalar();
    for (const std::uint32_t lane : active) {
        const AccessTarget place = reach_or_report(id, lane);
        const Bits old = ir::load_scalar(type, place.memory);
        const Bits operand = value(fn_.arg(id, 1), 0, lane);
        Bits updated = operand;
        if (op == Op::AtomicCas) {
            updated = old == operand ? value(fn_.arg(id, 2), 0, lane) : old;
        } else if (op != Op::AtomicExchange) {
            updated = scalar_function(ir::combine_of_atomic(op), type)(old, operand, 0);
        }
        ir::store_scalar(type, place.memory, updated);
        value(id, 0, lane) = old;
    }
}

void Workgroup::run_print(NodeId id, const Lanes& active) {
    if (!grid_.print) return;
    std::size_t bytes = 0;
    for (const NodeId operand : fn_.args(id)) bytes += backends::print_slot(fn_.type(operand).size());
    std::vector<std::byte> values(bytes);
    for (const std::uint32_t lane : active) {
        std::byte* to = values.data();
        for (const NodeId operand : fn_.args(id)) {
            for (std::size_t leaf = 0; const ir::Leaf& at : *grid_.leaves[operand]) {
                ir::store_scalar(at.scalar, to + at.offset, value(operand, leaf++, lane));
            }
            to += backends::print_slot(fn_.type(operand).size());
        }
        grid_.print(id, values.data());
    }
}

}  // namespace volley::backends::reference
