// Loads and extractions out of bounds. The value of one is needed, and the fault is reported, when an
// operation with an effect uses it: a store, an access that is not a load, control flow, a subgroup
// operation, print.
#include "backends/reference/scalar.hpp"
#include "backends/reference/workgroup.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace volley::backends::reference {

using ir::Op;

namespace {

std::uint64_t key(ir::NodeId id, std::uint32_t lane) { return std::uint64_t{id} << 32 | lane; }

bool is_choice(const ir::Function& fn, ir::NodeId id) {
    const Op op = fn[id].op;
    return op == Op::Select || ((op == Op::And || op == Op::Or) && fn.type(id) == ScalarType::Bool);
}

}  // namespace

void Workgroup::report(const Fault& fault, std::uint32_t lane) const {
    fail(ErrorCode::IndexError,
         cat("'", ir::mnemonic(fn_[fault.access].op), "' accesses index ", fault.index, " of ", fault.count,
             " elements (", fault.of.name(), ")"),
         where(fault.access, lane), "guard the access with a condition on the index");
}

const Workgroup::Fault* Workgroup::fault(NodeId id, std::uint32_t lane) const {
    const auto found = faults_.find(key(id, lane));
    return found == faults_.end() ? nullptr : &found->second;
}

void Workgroup::set_fault(NodeId id, std::uint32_t lane, const Fault& fault) {
    for (std::size_t leaf = 0; leaf < grid_.leaves[id]->size(); ++leaf) value(id, leaf, lane) = 0;
    faults_.insert_or_assign(key(id, lane), fault);
}

const Workgroup::Fault* Workgroup::fault_of_operands(NodeId id, std::uint32_t lane) const {
    for (const NodeId arg : fn_.args(id)) {
        if (const Fault* const found = fault(arg, lane)) return found;
    }
    return nullptr;
}

// Returns the fault of a select, && or ||. Ignores operands that are not chosen.
const Workgroup::Fault* Workgroup::fault_of_choice(NodeId id, std::uint32_t lane) const {
    const auto args = fn_.args(id);
    if (const Fault* const found = fault(args[0], lane)) return found;
    const std::size_t parts = grid_.leaves[args[0]]->size();
    for (std::size_t k = 0; k < parts; ++k) {
        const bool yes = value(args[0], k, lane) != 0;
        const Fault* found = nullptr;
        switch (fn_[id].op) {
            case Op::Select: found = fault(yes ? args[1] : args[2], lane); break;
            case Op::And: found = yes ? fault(args[1], lane) : nullptr; break;
            default: found = yes ? nullptr : fault(args[1], lane); break;
        }
        if (found != nullptr) return found;
    }
    return nullptr;
}

Lanes Workgroup::pass_faults_on(NodeId id, const Lanes& active) {
    const bool computes = ir::traits(fn_[id].op).pure || fn_[id].op == Op::Load;
    Lanes sound;
    for (const std::uint32_t lane : active) {
        const Fault* const found =
            is_choice(fn_, id) ? fault_of_choice(id, lane) : fault_of_operands(id, lane);
        if (found == nullptr) {
            faults_.erase(key(id, lane));
            sound.push_back(lane);
        } else if (computes) {
            set_fault(id, lane, Fault(*found));
        } else {
            report(*found, lane);
        }
    }
    return sound;
}

}  // namespace volley::backends::reference
