// Repeats three kinds of reduction until none helps: removes a statement, replaces a control node by its
// body, replaces a value by zero. Then removes dead values.
#include "random/minimise.hpp"

#include "ir/verifier.hpp"

#include <volley/error.hpp>

#include <algorithm>
#include <chrono>

namespace volley::testing {
namespace {

using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

bool has_uses(const Function& fn, NodeId id) {
    bool used = false;
    ir::for_each_node(fn, fn.body, [&](NodeId user) {
        const auto args = fn.args(user);
        used = used || std::find(args.begin(), args.end(), id) != args.end();
    });
    return used;
}

void remove_dead(Function& fn) {
    for (bool changed = true; changed;) {
        changed = false;
        std::vector<bool> used(fn.nodes.size(), false);
        ir::for_each_node(fn, fn.body, [&](NodeId user) {
            for (const NodeId arg : fn.args(user)) used[arg] = true;
        });
        for (ir::Region& region : fn.regions) {
            const auto dead = [&](NodeId id) {
                const Op op = fn[id].op;
                const bool removable =
                    ir::traits(op).pure || op == Op::Load || op == Op::Var || op == Op::Shared;
                return removable && op != Op::Param && !used[id];
            };
            const auto kept = std::remove_if(region.nodes.begin(), region.nodes.end(), dead);
            changed = changed || kept != region.nodes.end();
            region.nodes.erase(kept, region.nodes.end());
        }
    }
}

// Returns true for barriers and for writes to memory that other invocations read: removing one would create a
// race.
bool orders_others(const Function& fn, NodeId id) {
    const Op op = fn[id].op;
    if (op == Op::Barrier) return true;
    const bool writes = op == Op::Store || ir::form(op) == Form::Atomic;
    if (writes && fn[fn.arg(id, 0)].op == Op::Shared) return true;
    for (const RegionId region : fn[id].regions) {
        if (region == ir::none) continue;
        for (const NodeId inner : fn.nodes_of(region)) {
            if (orders_others(fn, inner)) return true;
        }
    }
    return false;
}

// Marks all values from which store addresses are computed.
std::vector<bool> addresses(const Function& fn) {
    std::vector<bool> needed(fn.nodes.size(), false);
    std::vector<NodeId> open;
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        if (fn[id].op != Op::Store) return;
        const auto args = fn.args(id);
        open.insert(open.end(), args.begin(), args.begin() + 1);
        open.insert(open.end(), args.begin() + 2, args.end());
    });
    while (!open.empty()) {
        const NodeId id = open.back();
        open.pop_back();
        if (needed[id]) continue;
        needed[id] = true;
        for (const NodeId arg : fn.args(id)) open.push_back(arg);
    }
    return needed;
}

class Minimiser {
public:
    Minimiser(Program program, const std::function<bool(const Program&)>& fails)
        : best_(std::move(program)), fails_(fails) {}

    Program run() {
        try_it(best_);  // removes values that are already dead
        for (bool changed = true; changed;) {
            changed = drop_statements();
            changed = inline_regions() || changed;
            changed = zero_values() || changed;
        }
        return std::move(best_);
    }

private:
    bool try_it(Program candidate) {
        if (std::chrono::steady_clock::now() > deadline_) return false;
        try {
            remove_dead(candidate.fn);
            ir::verify(candidate.fn);
        } catch (const Error&) {
            return false;
        }
        if (!fails_(candidate)) return false;
        best_ = std::move(candidate);
        return true;
    }

    // Calls f(region, position) for each node from the last to the first until it returns true for a change,
    // then starts again from there.
    template <class F>
    bool each_place(F&& f) {
        bool changed = false;
        for (RegionId region = 0; region < best_.fn.regions.size(); ++region) {
            for (std::size_t at = best_.fn.regions[region].nodes.size(); at-- > 0;) {
                if (at >= best_.fn.regions[region].nodes.size()) continue;
                changed = f(region, at) || changed;
            }
        }
        return changed;
    }

    [[nodiscard]] bool is_droppable(NodeId id) const {
        const Op op = best_.fn[id].op;
        if (orders_others(best_.fn, id) || ir::form(op) == Form::Root || op == Op::Param) return false;
        return !has_uses(best_.fn, id);
    }

    // Removes many at once first: each attempt costs a compilation.
    bool drop_statements() {
        bool changed = false;
        for (RegionId region = 0; region < best_.fn.regions.size(); ++region) {
            for (std::size_t chunk = best_.fn.regions[region].nodes.size(); chunk > 0; chunk /= 2) {
                for (std::size_t at = 0; at < best_.fn.regions[region].nodes.size();) {
                    if (drop(region, at, chunk)) {
                        changed = true;
                    } else {
                        at += chunk;
                    }
                }
            }
        }
        return changed;
    }

    bool drop(RegionId region, std::size_t at, std::size_t count) {
        Program candidate = best_;
        auto& nodes = candidate.fn.regions[region].nodes;
        const auto first = nodes.begin() + static_cast<std::ptrdiff_t>(at);
        const auto last = nodes.begin() + static_cast<std::ptrdiff_t>(std::min(at + count, nodes.size()));
        const auto kept = std::remove_if(first, last, [&](NodeId id) { return is_droppable(id); });
        if (kept == last) return false;
        nodes.erase(kept, last);
        return try_it(std::move(candidate));
    }

    bool inline_regions() {
        return each_place([&](RegionId region, std::size_t at) {
            const ir::Node& node = best_.fn[best_.fn.regions[region].nodes[at]];
            if (node.op != Op::If) return false;
            for (const RegionId inner : node.regions) {
                if (inner == ir::none) continue;
                Program candidate = best_;
                const std::vector<NodeId> body = candidate.fn.regions[inner].nodes;
                candidate.fn.regions[inner].nodes.clear();
                auto& nodes = candidate.fn.regions[region].nodes;
                nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(at));
                nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(at), body.begin(), body.end());
                if (try_it(std::move(candidate))) return true;
            }
            return false;
        });
    }

    bool zero_values() {
        return each_place([&](RegionId region, std::size_t at) {
            const NodeId id = best_.fn.regions[region].nodes[at];
            const ir::Node& node = best_.fn[id];
            const bool value = ir::traits(node.op).pure || node.op == Op::Load;
            if (!value || node.op == Op::Const || node.op == Op::Zero || node.op == Op::Param) return false;
            if (addresses(best_.fn)[id]) return false;
            Program candidate = best_;
            candidate.fn[id].op = node.type.is_scalar() ? Op::Const : Op::Zero;
            candidate.fn[id].count = 0;
            candidate.fn[id].imm = 0;
            return try_it(std::move(candidate));
        });
    }

    Program best_;
    const std::function<bool(const Program&)>& fails_;
    // Compiling a candidate takes milliseconds; the deadline keeps a failing test from hanging.
    std::chrono::steady_clock::time_point deadline_ =
        std::chrono::steady_clock::now() + std::chrono::seconds(15);
};

}  // namespace

Program minimise(Program program, const std::function<bool(const Program&)>& fails) {
    return Minimiser(std::move(program), fails).run();
}

}  // namespace volley::testing
