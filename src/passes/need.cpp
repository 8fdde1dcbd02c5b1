#include "passes/need.hpp"

#include <algorithm>
#include <utility>

namespace volley::passes {

using ir::NodeId;
using ir::Op;

namespace {

constexpr unsigned most_steps = 200;  // of a proof that one formula implies another

}  // namespace

Needs::Needs() : gates_{{.kind = Kind::Never}, {.kind = Kind::Always}} {}

Needs::Id Needs::intern(const Gate& gate) {
    const auto [entry, fresh] = known_.try_emplace(gate, static_cast<Id>(gates_.size()));
    if (fresh) gates_.push_back(gate);
    return entry->second;
}

Needs::Id Needs::literal(const ir::Function& fn, NodeId condition, Is is) {
    if (is == Is::True || is == Is::False) {
        const ir::Node& node = fn[condition];
        const bool yes = is == Is::True;
        if (node.op == Op::Not) return literal(fn, fn.arg(condition, 0), yes ? Is::False : Is::True);
        if (node.op == Op::And || node.op == Op::Or) {
            const Id a = literal(fn, fn.arg(condition, 0), is);
            const Id b = literal(fn, fn.arg(condition, 1), is);
            return (node.op == Op::And) == yes ? both(a, b) : either(a, b);
        }
        if (const auto value = fn.constant_int(condition)) return (*value != 0) == yes ? always : never;
    }
    return intern({.kind = Kind::Literal, .is = is, .condition = condition});
}

bool Needs::opposite(Id a, Id b) const {
    const Gate& x = gates_[a];
    const Gate& y = gates_[b];
    if (x.kind != Kind::Literal || y.kind != Kind::Literal || x.condition != y.condition) return false;
    const Is low = std::min(x.is, y.is);
    const Is high = std::max(x.is, y.is);
    return (low == Is::True && high == Is::False) || (low == Is::SomeTrue && high == Is::SomeFalse);
}

bool Needs::implies(Id a, Id b) const {
    unsigned steps = most_steps;
    return implies(a, b, steps);
}

bool Needs::implies(Id a, Id b, unsigned& steps) const {
    if (a == b || a == never || b == always) return true;
    if (a == always || b == never || steps == 0) return false;
    --steps;
    const Gate& x = gates_[a];
    const Gate& y = gates_[b];
    if (x.kind == Kind::Or) return implies(x.a, b, steps) && implies(x.b, b, steps);
    if (y.kind == Kind::And) return implies(a, y.a, steps) && implies(a, y.b, steps);
    if (x.kind == Kind::And && (implies(x.a, b, steps) || implies(x.b, b, steps))) return true;
    return y.kind == Kind::Or && (implies(a, y.a, steps) || implies(a, y.b, steps));
}

Needs::Id Needs::both(Id a, Id b) {
    if (implies(a, b)) return a;
    if (implies(b, a)) return b;
    if (opposite(a, b) && gates_[a].is <= Is::False) return never;
    return intern({.kind = Kind::And, .a = a, .b = b});
}

Needs::Id Needs::either(Id a, Id b) {
    if (implies(a, b)) return b;
    if (implies(b, a)) return a;
    // Both arms of a select: some component is true or some is false, whatever the condition.
    if (opposite(a, b)) return always;
    // (x and y) or (x and z) = x and (y or z)
    const Gate x = gates_[a];
    const Gate y = gates_[b];
    if (x.kind == Kind::And && y.kind == Kind::And) {
        for (const auto& [common, rest] : {std::pair{x.a, x.b}, std::pair{x.b, x.a}}) {
            if (common == y.a) return both(common, either(rest, y.b));
            if (common == y.b) return both(common, either(rest, y.a));
        }
    }
    return intern({.kind = Kind::Or, .a = a, .b = b});
}

Needs::Id Needs::weakened(Id id, const std::function<bool(NodeId)>& known) {
    const Gate gate = gates_[id];
    switch (gate.kind) {
        case Kind::Literal: return known(gate.condition) ? id : always;
        case Kind::And: {
            const Id a = weakened(gate.a, known);
            return both(a, weakened(gate.b, known));
        }
        case Kind::Or: {
            const Id a = weakened(gate.a, known);
            return either(a, weakened(gate.b, known));
        }
        default: return id;
    }
}

bool Needs::any_literal(Id id, const std::function<bool(NodeId)>& f) const {
    const Gate& gate = gates_[id];
    switch (gate.kind) {
        case Kind::Literal: return f(gate.condition);
        case Kind::And:
        case Kind::Or: return any_literal(gate.a, f) || any_literal(gate.b, f);
        default: return false;
    }
}

}  // namespace volley::passes
