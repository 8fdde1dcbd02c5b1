// Per region: one walk backwards finds when each value is needed, one walk forwards builds the new list. A
// guarded load keeps its place; the conditions that it needs are computed earlier if they are not known yet.
// If they cannot be, because they depend on later effects, the load and its users move down to them, but
// never past a write that may change the loaded value.
#include "passes/guard_loads.hpp"

#include "passes/effects.hpp"
#include "passes/need.hpp"
#include "passes/rewrite.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace volley::passes {
namespace {

using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

constexpr std::size_t most_in_group = 16;  // loads under one If

bool is_movable(const Function& fn, NodeId id) {
    return fn[id].op == Op::Load || (ir::traits(fn[id].op).pure && fn[id].op != Op::Param);
}

// Returns whether a load may leave its memory, as far as its path shows.
bool may_fault(const Function& fn, NodeId load) {
    const NodeId root = fn.arg(load, 0);
    if (fn[root].op == Op::Buffer) return true;
    DType type = fn.type(root);
    for (const NodeId step : fn.args(load).subspan(1)) {
        const auto index = fn.constant_int(step);
        if (!index || *index < 0 || static_cast<std::uint64_t>(*index) >= type.count()) return true;
        type = type.part(static_cast<std::uint64_t>(*index));
    }
    return false;
}

bool chooses(const Function& fn, NodeId id) {
    const Op op = fn[id].op;
    return op == Op::Select || ((op == Op::And || op == Op::Or) && fn.type(id) == ScalarType::Bool);
}

bool has_jump(const Function& fn, NodeId id) {
    bool any = false;
    for (const RegionId inner : fn[id].regions) {
        if (inner == ir::none) continue;
        ir::for_each_node(fn, inner, [&](NodeId n) { any = any || ir::form(fn[n].op) == Form::Jump; });
    }
    return any;
}

// What the walks of all regions share.
struct Pass {
    explicit Pass(Function& function)
        : fn(function),
          effects(effects_of_regions(function)),
          region_of(regions_of_nodes(function)),
          place(function.nodes.size(), 0),
          seen(function.nodes.size(), 0) {}

    Function& fn;
    std::vector<Effects> effects;
    std::vector<RegionId> region_of;   // of the nodes of the original function
    std::vector<std::uint32_t> place;  // in its region
    std::vector<std::uint32_t> seen;   // the last search that reached the node
    std::uint32_t search = 0;
    Replacements replaced;
};

class GuardRegion {
public:
    GuardRegion(Pass& pass, RegionId region)
        : pass_(pass), fn_(pass.fn), region_(region), old_(std::move(fn_.regions[region].nodes)) {
        for (std::uint32_t k = 0; k < old_.size(); ++k) pass_.place[old_[k]] = k;
        need_.assign(old_.size(), Needs::never);
        state_.assign(old_.size(), State::Waiting);
    }

    void run() {
        find_needs();
        for (cursor_ = 0; cursor_ < old_.size(); ++cursor_) {
            if (state_[cursor_] == State::Waiting) visit(old_[cursor_]);
            if (!late_.empty() && cursor_ >= due_) flush();
        }
        fn_.regions[region_].nodes = std::move(list_);
    }

private:
    enum class State : std::uint8_t { Waiting, Late, Busy, Done };

    [[nodiscard]] bool is_here(NodeId id) const {
        return id < pass_.region_of.size() && pass_.region_of[id] == region_;
    }
    [[nodiscard]] Needs::Id& need(NodeId id) { return need_[pass_.place[id]]; }
    [[nodiscard]] State& state(NodeId id) { return state_[pass_.place[id]]; }

    // ---- When values are needed ----

    void find_needs() {
        for (std::size_t k = old_.size(); k-- > 0;) {
            const NodeId id = old_[k];
            for (const RegionId inner : fn_[id].regions) {
                if (inner == ir::none) continue;
                ir::for_each_node(fn_, inner, [&](NodeId n) {
                    for (const NodeId used : fn_.args(n)) {
                        if (is_here(used)) need(used) = Needs::always;
                    }
                });
            }
            const bool movable = is_movable(fn_, id);
            for (unsigned i = 0; i < fn_[id].count; ++i) {
                const NodeId used = fn_.arg(id, i);
                if (!is_here(used) || need(used) == Needs::always) continue;
                Needs::Id when = movable ? need_[k] : Needs::always;
                if (chooses(fn_, id) && i > 0) when = needs_.both(when, choice(id, i));
                // A condition that is computed from the value itself cannot decide whether to load it.
                when = needs_.weakened(when, [&](NodeId condition) {
                    ++pass_.search;
                    return !depends(condition, used);
                });
                need(used) = needs_.either(need(used), when);
            }
        }
    }

    // Returns the condition under which a select or logical operation uses its i-th operand.
    Needs::Id choice(NodeId id, unsigned i) {
        using Is = Needs::Is;
        const NodeId condition = fn_.arg(id, 0);
        const bool yes = fn_[id].op != Op::Or && i == 1;
        if (fn_.type(condition).is_vector())
            return needs_.literal(fn_, condition, yes ? Is::SomeTrue : Is::SomeFalse);
        return needs_.literal(fn_, condition, yes ? Is::True : Is::False);
    }

    // Returns whether the value, or a guard of a load that it is computed from, uses `on`.
    bool depends(NodeId id, NodeId on) {
        if (id == on) return true;
        if (!is_here(id) || pass_.place[id] < pass_.place[on] || pass_.seen[id] == pass_.search) return false;
        pass_.seen[id] = pass_.search;
        const auto args = fn_.args(id);
        if (std::any_of(args.begin(), args.end(), [&](NodeId arg) { return depends(arg, on); })) return true;
        return is_guarded(id) && needs_.any_literal(need(id), [&](NodeId c) { return depends(c, on); });
    }

    [[nodiscard]] bool is_guarded(NodeId id) {
        return fn_[id].op == Op::Load && need(id) > Needs::always && may_fault(fn_, id);
    }

    // ---- The new list ----

    void visit(NodeId id) {
        const auto args = fn_.args(id);
        const bool waits = std::any_of(args.begin(), args.end(),
                                       [&](NodeId arg) { return is_here(arg) && state(arg) == State::Late; });
        if (waits) {
            defer(id);
            return;
        }
        if (is_guarded(id)) {
            const auto known = [&](NodeId condition) {
                ++pass_.search;
                return can_emit(condition);
            };
            state(id) = State::Busy;
            if (needs_.any_literal(need(id), [&](NodeId condition) { return !known(condition); })) {
                if (sink(id)) return;
                need(id) = needs_.weakened(need(id), known);
            }
        }
        emit(id);
    }

    // Returns whether the value is known at the cursor, or can be computed there.
    bool can_emit(NodeId id) {
        if (!is_here(id)) return true;
        if (state(id) == State::Done) return true;
        if (state(id) == State::Busy || !is_movable(fn_, id)) return false;
        if (pass_.seen[id] == pass_.search) return true;
        pass_.seen[id] = pass_.search;
        if (fn_[id].op == Op::Load && !can_move(id, cursor_)) return false;
        const auto args = fn_.args(id);
        if (!std::all_of(args.begin(), args.end(), [&](NodeId arg) { return can_emit(arg); })) return false;
        return !is_guarded(id) || !needs_.any_literal(need(id), [&](NodeId c) { return !can_emit(c); });
    }

    // Returns whether a load has the same value at another place of the region.
    bool can_move(NodeId load, std::size_t to) {
        const NodeId root = fn_.arg(load, 0);
        const bool buffer = fn_[root].op == Op::Buffer;
        const std::size_t from = pass_.place[load];
        const bool up = to < from;
        for (std::size_t k = std::min(from, to); k < std::max(from, to); ++k) {
            const NodeId id = old_[k];
            const Effects effects = effects_of(fn_, id, pass_.effects);
            if (buffer ? effects.buffers || effects.sync
                       : std::binary_search(effects.written.begin(), effects.written.end(), root) ||
                             (effects.sync && fn_[root].op == Op::Shared)) {
                return false;
            }
            // An earlier `return` may be what keeps the load inside its memory.
            if (up && has_jump(fn_, id)) return false;
        }
        return true;
    }

    // Moves a load and its users down to its conditions; returns whether it could.
    bool sink(NodeId load) {
        std::size_t to = due_;
        needs_.for_each_literal(need(load), [&](NodeId condition) {
            if (is_here(condition)) to = std::max<std::size_t>(to, pass_.place[condition]);
        });
        const std::uint32_t search = ++pass_.search;
        const auto found = [&](NodeId id) { return is_here(id) && pass_.seen[id] == search; };
        pass_.seen[load] = search;
        for (std::size_t k = pass_.place[load]; k <= to; ++k) {
            const NodeId id = old_[k];
            const auto args = fn_.args(id);
            if (!found(id) && std::none_of(args.begin(), args.end(), found)) continue;
            if (state_[k] == State::Done || !is_movable(fn_, id)) return false;
            if (fn_[id].op == Op::Load && !can_move(id, to + 1)) return false;
            pass_.seen[id] = search;
        }
        due_ = to;
        defer(load);
        return true;
    }

    void defer(NodeId id) {
        state(id) = State::Late;
        late_.push_back(id);
    }

    void flush() {
        const std::vector<NodeId> late = std::move(late_);
        late_.clear();
        for (const NodeId id : late) {
            if (state(id) == State::Late) state(id) = State::Waiting;
        }
        for (const NodeId id : late) {
            if (state(id) != State::Waiting) continue;
            if (is_guarded(id)) {
                state(id) = State::Busy;
                need(id) = needs_.weakened(need(id), [&](NodeId condition) {
                    ++pass_.search;
                    return can_emit(condition);
                });
            }
            emit(id);
        }
    }

    // Emits a value that a later node needs now.
    void require(NodeId id) {
        if (is_here(id) && state(id) != State::Done) emit(id);
    }

    void emit(NodeId id) {
        if (is_guarded(id)) {
            emit_guarded(id);
            return;
        }
        state(id) = State::Busy;
        for (unsigned i = 0; i < fn_[id].count; ++i) require(fn_.arg(id, i));
        state(id) = State::Done;
        pass_.replaced.apply(fn_, id);
        list_.push_back(id);
        const RegionId inner[2] = {fn_[id].regions[0], fn_[id].regions[1]};
        for (const RegionId region : inner) {
            if (region != ir::none) GuardRegion(pass_, region).run();
        }
    }

    void emit_guarded(NodeId id) {
        state(id) = State::Busy;
        const Needs::Id when = need(id);
        needs_.for_each_literal(when, [&](NodeId condition) { require(condition); });
        for (unsigned i = 0; i < fn_[id].count; ++i) require(fn_.arg(id, i));
        std::vector<NodeId> loads = {id};
        add_equal(when, loads);
        for (const NodeId load : loads) {
            state(load) = State::Done;
            pass_.replaced.apply(fn_, load);
        }
        const NodeId condition = value_of(when, id);
        std::vector<NodeId> results;
        results.reserve(loads.size());
        for (const NodeId load : loads) results.push_back(make(Op::Var, fn_.type(load), {}, load));
        const NodeId guard = make(Op::If, {}, {condition}, id);
        const RegionId arm = fn_.add_region();
        fn_[guard].regions[0] = arm;
        for (std::size_t k = 0; k < loads.size(); ++k) {
            const NodeId store =
                fn_.add(Op::Store, {}, std::array{results[k], loads[k]}, 0, fn_[loads[k]].loc);
            fn_.regions[arm].nodes.insert(fn_.regions[arm].nodes.end(), {loads[k], store});
            pass_.replaced.set(loads[k], make(Op::Load, fn_.type(loads[k]), {results[k]}, loads[k]));
        }
    }

    // Adds later loads that have the same guard and can run now.
    void add_equal(Needs::Id when, std::vector<NodeId>& loads) {
        for (std::size_t k = cursor_ + 1; k < old_.size() && loads.size() < most_in_group; ++k) {
            const NodeId id = old_[k];
            if (state_[k] != State::Waiting || need_[k] != when || !is_guarded(id)) continue;
            ++pass_.search;
            if (!can_emit(id)) continue;
            for (unsigned i = 0; i < fn_[id].count; ++i) require(fn_.arg(id, i));
            state_[k] = State::Busy;
            loads.push_back(id);
        }
    }

    NodeId value_of(Needs::Id id, NodeId like) {
        if (const auto known = values_.find(id); known != values_.end()) return known->second;
        const Needs::Gate gate = needs_[id];
        NodeId value = ir::none;
        if (gate.kind == Needs::Kind::Literal) {
            value = pass_.replaced.of(gate.condition);
            const bool yes = gate.is == Needs::Is::True || gate.is == Needs::Is::SomeTrue;
            if (fn_.type(value).is_vector()) value = some(value, yes ? Op::Or : Op::And, like);
            if (!yes) value = make(Op::Not, ScalarType::Bool, {value}, like);
        } else {
            const NodeId a = value_of(gate.a, like);
            const NodeId b = value_of(gate.b, like);
            value = make(gate.kind == Needs::Kind::And ? Op::And : Op::Or, ScalarType::Bool, {a, b}, like);
        }
        return values_[id] = value;
    }

    // Combines the components of a vector.
    NodeId some(NodeId vector, Op op, NodeId like) {
        NodeId all = ir::none;
        for (std::uint64_t k = 0; k < fn_.type(vector).count(); ++k) {
            const NodeId step = make(Op::Const, ScalarType::U32, {}, like);
            fn_[step].imm = k;
            const NodeId part = make(Op::Extract, ScalarType::Bool, {vector, step}, like);
            all = k == 0 ? part : make(op, ScalarType::Bool, {all, part}, like);
        }
        return all;
    }

    NodeId make(Op op, DType type, std::initializer_list<NodeId> args, NodeId like) {
        const NodeId id = fn_.add(op, type, std::span(args.begin(), args.size()), 0, fn_[like].loc);
        list_.push_back(id);
        return id;
    }

    Pass& pass_;
    Function& fn_;
    RegionId region_;
    std::vector<NodeId> old_;
    std::vector<NodeId> list_;
    Needs needs_;
    std::vector<Needs::Id> need_;  // by place
    std::vector<State> state_;     // by place
    std::unordered_map<Needs::Id, NodeId> values_;
    std::vector<NodeId> late_;  // deferred until due_, in their order
    std::size_t due_ = 0;
    std::size_t cursor_ = 0;
};

// Returns whether there may be anything to guard.
bool may_have_guards(const Function& fn) {
    bool choice = false;
    bool load = false;
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        choice = choice || chooses(fn, id);
        load = load || (fn[id].op == Op::Load && may_fault(fn, id));
    });
    return choice && load;
}

}  // namespace

void guard_loads(Function& fn) {
    if (!may_have_guards(fn)) return;
    Pass pass(fn);
    GuardRegion(pass, fn.body).run();
}

}  // namespace volley::passes
