// Segments are numbered in one walk; a second finds values and variables that cross from one to another.
#include "passes/split_barriers.hpp"

#include <algorithm>

namespace volley::passes {
namespace {

using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

// Up to this many simple operations are cheaper than a store and a load of W lanes.
constexpr unsigned recompute_limit = 12;

bool find_barriers(const Function& fn, RegionId region, std::vector<bool>& has) {
    bool any = false;
    for (const NodeId id : fn.nodes_of(region)) {
        any = any || fn[id].op == Op::Barrier;
        for (const RegionId inner : fn[id].regions) {
            if (inner != ir::none && find_barriers(fn, inner, has)) any = true;
        }
    }
    has[region] = any;
    return any;
}

class Planner {
public:
    Planner(const Function& fn, const Uniformity& uniformity) : fn_(fn), uniformity_(uniformity) {
        plan_.region_has_barrier.assign(fn.regions.size(), false);
        plan_.any = find_barriers(fn, fn.body, plan_.region_has_barrier);
        if (!plan_.any) return;
        plan_.segment.assign(fn.nodes.size(), ir::none);
        number(fn.body);
        plan_.segment_count = next_;
        find_crossing_values();
        find_crossing_variables();
    }

    BarrierPlan take() { return std::move(plan_); }

private:
    [[nodiscard]] bool holds_barrier(NodeId id) const {
        for (const RegionId inner : fn_[id].regions) {
            if (inner != ir::none && plan_.region_has_barrier[inner]) return true;
        }
        return false;
    }

    // --- segments ---

    void number(RegionId region) {
        std::uint32_t current = ir::none;
        for (const NodeId id : fn_.nodes_of(region)) {
            if (fn_[id].op == Op::Barrier) {
                current = ir::none;
            } else if (holds_barrier(id)) {
                current = ir::none;
                for (const RegionId inner : fn_[id].regions) {
                    if (inner != ir::none) number(inner);
                }
            } else {
                if (current == ir::none) current = next_++;
                put(id, current);
            }
        }
    }

    void put(NodeId id, std::uint32_t segment) {
        plan_.segment[id] = segment;
        for (const RegionId inner : fn_[id].regions) {
            if (inner == ir::none) continue;
            for (const NodeId node : fn_.nodes_of(inner)) put(node, segment);
        }
    }

    // --- values ---

    // Known wherever it is used, without a slot.
    [[nodiscard]] bool available(NodeId id) const {
        switch (ir::form(fn_[id].op)) {
            case Form::Constant:
            case Form::Zero:
            case Form::Parameter:
            case Form::Root:
            case Form::Builtin:
            case Form::BufferSize: return true;
            case Form::For: return holds_barrier(id);  // the index of a loop between segments
            default: return false;
        }
    }

    void find_crossing_values() {
        std::vector<bool> crossing(fn_.nodes.size(), false);
        ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
            for (const NodeId used : fn_.args(id)) {
                if (!available(used) && plan_.segment[used] != plan_.segment[id]) crossing[used] = true;
            }
        });
        state_.assign(fn_.nodes.size(), State{});
        ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
            if (crossing[id]) keep(id);
        });
        ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
            switch (state_[id].fate) {
                case Fate::Spill: plan_.spilled.push_back(id); break;
                case Fate::Carry: plan_.carried.push_back(id); break;
                case Fate::Recompute: plan_.recompute.push_back(id); break;
                case Fate::None: break;
            }
        });
    }

    enum class Fate : std::uint8_t { None, Spill, Carry, Recompute };
    struct State {
        Fate fate = Fate::None;
        unsigned cost = 0;  // of computing it again
    };

    void keep(NodeId id) {
        if (state_[id].fate != Fate::None) return;
        if (uniformity_.uniform(id)) {
            state_[id].fate = Fate::Carry;
            return;
        }
        unsigned cost = 0;
        if (can_recompute(id, cost)) {
            recompute(id);
        } else {
            state_[id].fate = Fate::Spill;
        }
    }

    [[nodiscard]] static unsigned cost_of(Op op) {
        switch (op) {
            case Op::Construct:
            case Op::Extract:
            case Op::Bitcast:
            case Op::Convert: return 0;
            case Op::Div:
            case Op::Rem: return 4;
            default: return 1;
        }
    }

    // Adds the cost of computing the value again from what is available, kept, or known to be cheap.
    [[nodiscard]] bool can_recompute(NodeId id, unsigned& cost) const {
        if (available(id) || state_[id].fate != Fate::None) return true;
        const Op op = fn_[id].op;
        if (!ir::traits(op).pure) return false;
        if (op >= Op::Sqrt && op <= Op::Hypot) return false;  // functions
        if (uniformity_.uniform(id)) return true;             // will be carried: one slot a workgroup
        cost += cost_of(op);
        if (cost > recompute_limit) return false;
        for (const NodeId used : fn_.args(id)) {
            if (!can_recompute(used, cost)) return false;
        }
        return true;
    }

    void recompute(NodeId id) {
        if (available(id) || state_[id].fate != Fate::None) return;
        if (uniformity_.uniform(id)) {
            state_[id].fate = Fate::Carry;
            return;
        }
        state_[id].fate = Fate::Recompute;
        for (const NodeId used : fn_.args(id)) recompute(used);
    }

    // --- variables ---

    // A variable is local to its segments when every load comes after a whole store (or the declaration) in the
    // same segment, on every way to it.
    void find_crossing_variables() {
        crosses_.assign(fn_.nodes.size(), false);
        std::vector<std::uint32_t> set_in(fn_.nodes.size(), ir::none);  // per Var: the segment where it was set
        check(fn_.body, set_in);
        ir::for_each_node(fn_, fn_.body, [&](NodeId id) {
            if (fn_[id].op == Op::Var && crosses_[id]) plan_.spilled_vars.push_back(id);
        });
    }

    void check(RegionId region, std::vector<std::uint32_t>& set_in) {
        for (const NodeId id : fn_.nodes_of(region)) {
            const ir::Node& node = fn_[id];
            const std::uint32_t segment = plan_.segment[id];
            if (node.op == Op::Var) {
                set_in[id] = segment;
            } else if (node.op == Op::Load || node.op == Op::Store) {
                const NodeId root = fn_.arg(id, 0);
                if (fn_[root].op != Op::Var) continue;
                const bool whole_store = node.op == Op::Store && node.count == 2;
                if (whole_store) {
                    set_in[root] = segment;
                } else if (set_in[root] != segment) {
                    crosses_[root] = true;  // a store to a part keeps the rest, as a load does
                }
            }
            for (const RegionId inner : node.regions) {
                if (inner == ir::none) continue;
                std::vector<std::uint32_t> inside = set_in;  // what happens inside may not have happened behind it
                check(inner, inside);
            }
        }
    }

    const Function& fn_;
    const Uniformity& uniformity_;
    BarrierPlan plan_;
    std::uint32_t next_ = 0;
    std::vector<State> state_;
    std::vector<bool> crosses_;
};

}  // namespace

BarrierPlan plan_barriers(const Function& fn, const Uniformity& uniformity) { return Planner(fn, uniformity).take(); }

}  // namespace volley::passes
