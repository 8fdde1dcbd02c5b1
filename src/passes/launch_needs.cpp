// The axes follow from the components of vectors that are used one by one. Uses are propagated backwards,
// from the extraction of a component to the vectors that it was computed from. Variables pass them from their
// loads to their stores, which may come first in a loop, so the propagation repeats until nothing changes.
#include "passes/launch_needs.hpp"

#include <array>

namespace volley::passes {
namespace {

using ir::Form;
using ir::NodeId;
using ir::Op;

using ComponentSet = std::uint8_t;  // a set, as a mask
constexpr ComponentSet all_components = 0xf;

class ComponentUses {
public:
    explicit ComponentUses(const ir::Function& fn) : fn_(fn), used_(fn.nodes.size()) {
        ir::for_each_node(fn, fn.body, [&](NodeId id) { order_.push_back(id); });
        do {
            changed_ = false;
            for (std::size_t k = order_.size(); k-- > 0;) visit(order_[k]);
        } while (changed_);
    }

    /// Returns the components of the vector that are used one by one.
    [[nodiscard]] ComponentSet operator[](NodeId id) const { return used_[id]; }
    [[nodiscard]] const std::vector<NodeId>& order() const noexcept { return order_; }

private:
    void use(NodeId id, ComponentSet components) {
        if (fn_.type(id).kind() == TypeKind::Scalar || (used_[id] | components) == used_[id]) return;
        used_[id] |= components;
        changed_ = true;
    }

    /// Returns the components of a composite that an Extract or Load of it uses.
    [[nodiscard]] ComponentSet selected(NodeId access, NodeId composite, std::span<const NodeId> path) const {
        const bool unused = fn_.type(access).kind() != TypeKind::Scalar && used_[access] == 0;
        if (path.empty() || unused) return used_[access];
        if (fn_.type(composite).kind() != TypeKind::Vector) return all_components;
        const auto component = fn_.constant_int(path[0]);
        if (!component || *component < 0 || *component > 3) return all_components;
        return static_cast<ComponentSet>(1u << *component);
    }

    void visit(NodeId id) {
        const ir::Node& node = fn_[id];
        const Form form = ir::form(node.op);
        const std::span<const NodeId> args = fn_.args(id);
        switch (form) {
            case Form::Extract: use(args[0], selected(id, args[0], args.subspan(1))); break;
            case Form::Load:
                // Elements of buffers come from elsewhere.
                if (fn_[args[0]].op != Op::Buffer) use(args[0], selected(id, args[0], args.subspan(1)));
                break;
            case Form::Store:
                if (fn_[args[0]].op != Op::Buffer && used_[args[0]] != 0)
                    use(args[1], args.size() == 2 ? used_[args[0]] : all_components);
                break;
            case Form::Construct:
            case Form::Bitcast:
                if (used_[id] != 0 || node.type.kind() == TypeKind::Scalar) {
                    for (const NodeId arg : args) use(arg, all_components);
                }
                break;
            default:
                // Elementwise operations, select and the folds of subgroups.
                if (used_[id] == 0) break;
                for (const NodeId arg : args) use(arg, used_[id]);
        }
    }

    const ir::Function& fn_;
    std::vector<NodeId> order_;
    std::vector<ComponentSet> used_;  // by node; of a variable: by its loads
    bool changed_ = false;
};

}  // namespace

LaunchNeeds launch_needs(const ir::Function& fn) {
    LaunchNeeds needs;
    const ComponentUses uses(fn);
    for (const NodeId id : uses.order()) {
        const Op op = fn[id].op;
        const bool shared = op == Op::Shared;
        const bool place =
            op == Op::LocalId || op == Op::LocalIndex || op == Op::GroupId || op == Op::SubgroupId;
        if (shared || (place && !needs.workgroups)) needs.workgroups = op;
        if (op != Op::GlobalId && op != Op::GroupId && op != Op::LocalId) continue;
        for (unsigned axis = 2; axis > 0; --axis) {
            if ((uses[id] >> axis & 1u) == 0) continue;
            if (!needs.axis || needs.axis->axis < axis) needs.axis = {op, axis};
            break;
        }
    }
    return needs;
}

}  // namespace volley::passes
