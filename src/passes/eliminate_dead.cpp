// Three steps: drops redundant jumps and the nodes after jumps; finds overwritten stores by a backward walk;
// then marks the nodes that have an effect, with everything that they need, and sweeps the rest.
#include "passes/eliminate_dead.hpp"

#include "passes/effects.hpp"
#include "passes/rewrite.hpp"

#include <algorithm>

namespace volley::passes {
namespace {

using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

void drop_unreachable(Function& fn, RegionId region) {
    std::vector<NodeId>& nodes = fn.regions[region].nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const ir::Node& node = fn[nodes[i]];
        for (const RegionId inner : node.regions) {
            if (inner != ir::none) drop_unreachable(fn, inner);
        }
        const bool ends =
            ir::form(node.op) == Form::Jump ||
            (node.op == Op::If && ends_in_jump(fn, node.regions[0]) && ends_in_jump(fn, node.regions[1]));
        if (ends) nodes.resize(i + 1);
    }
}

// Drops `op` if control reaches its target anyway: at the end of the region, and at the ends of Ifs that end
// the region.
void drop_last_jump(Function& fn, RegionId region, Op op) {
    if (region == ir::none) return;
    std::vector<NodeId>& nodes = fn.regions[region].nodes;
    if (!nodes.empty() && fn[nodes.back()].op == op) nodes.pop_back();
    if (nodes.empty() || fn[nodes.back()].op != Op::If) return;
    drop_last_jump(fn, fn[nodes.back()].regions[0], op);
    drop_last_jump(fn, fn[nodes.back()].regions[1], op);
}

void drop_useless_jumps(Function& fn) {
    drop_last_jump(fn, fn.body, Op::Return);
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        if (fn[id].op == Op::For || fn[id].op == Op::Loop)
            drop_last_jump(fn, fn[id].regions[0], Op::Continue);
    });
}

// Finds stores to whole variables that are followed by another store before any load.
class OverwrittenStores {
public:
    explicit OverwrittenStores(const Function& fn) : fn_(fn), dead_(fn.nodes.size(), false) {
        Vars end;
        walk(fn.body, end);
    }
    [[nodiscard]] const std::vector<bool>& dead() const noexcept { return dead_; }

private:
    // The variables whose value is not needed at a point of the function, as sorted ids.
    using Vars = std::vector<NodeId>;

    static void insert(Vars& vars, NodeId id) {
        const auto at = std::lower_bound(vars.begin(), vars.end(), id);
        if (at == vars.end() || *at != id) vars.insert(at, id);
    }
    static void remove(Vars& vars, NodeId id) {
        const auto at = std::lower_bound(vars.begin(), vars.end(), id);
        if (at != vars.end() && *at == id) vars.erase(at);
    }

    // `unneeded` applies to the end of the region on entry, and to its start on return.
    void walk(RegionId region, Vars& unneeded) {
        const std::vector<NodeId>& nodes = fn_.nodes_of(region);
        // A variable is not needed after its region.
        for (const NodeId id : nodes) {
            if (fn_[id].op == Op::Var) insert(unneeded, id);
        }
        for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) visit(*at, unneeded);
    }

    void visit(NodeId id, Vars& unneeded) {
        const ir::Node& node = fn_[id];
        switch (node.op) {
            case Op::Load: remove(unneeded, fn_.arg(id, 0)); break;
            case Op::Store:
                if (fn_[fn_.arg(id, 0)].op != Op::Var) break;
                if (std::binary_search(unneeded.begin(), unneeded.end(), fn_.arg(id, 0))) {
                    dead_[id] = true;
                } else if (node.count == 2) {
                    insert(unneeded, fn_.arg(id, 0));
                }
                break;
            case Op::If: {
                Vars other = unneeded;
                walk(node.regions[0], unneeded);
                if (node.regions[1] != ir::none) walk(node.regions[1], other);
                std::erase_if(unneeded, [&](NodeId var) {
                    return !std::binary_search(other.begin(), other.end(), var);
                });
                break;
            }
            case Op::For:
            case Op::Loop: {
                // The body is followed by the body again or by the code after the loop: assumes that every
                // variable is needed.
                Vars body;
                walk(node.regions[0], body);
                ir::for_each_node(fn_, node.regions[0], [&](NodeId inner) {
                    if (fn_[inner].op == Op::Load) remove(unneeded, fn_.arg(inner, 0));
                });
                break;
            }
            case Op::Break:
            case Op::Continue: unneeded.clear(); break;  // any variable may be needed at the target
            default: break;
        }
    }

    const Function& fn_;
    std::vector<bool> dead_;
};

// Marks the nodes that have an effect, and everything that they need.
class Marker {
public:
    explicit Marker(const Function& fn)
        : fn_(fn),
          overwritten_(fn),
          region_of_(regions_of_nodes(fn)),
          owner_of_(owners_of_regions(fn)),
          live_(fn.nodes.size(), false),
          writers_(fn.nodes.size()),
          jumps_(fn.nodes.size()) {
        gather(fn.body, ir::none);
        for (const ir::Param& param : fn.params) mark(param.node);
        while (!work_.empty()) {
            const NodeId id = work_.back();
            work_.pop_back();
            follow(id);
        }
    }
    [[nodiscard]] bool live(NodeId id) const { return live_[id]; }

private:
    // Marks the nodes that are live by themselves; groups the others by the node that makes them live.
    void gather(RegionId region, NodeId loop) {
        for (const NodeId id : fn_.nodes_of(region)) {
            const ir::Node& node = fn_[id];
            switch (ir::form(node.op)) {
                case Form::Store:
                case Form::Atomic:
                case Form::AtomicCas: {
                    const NodeId root = fn_.arg(id, 0);
                    if (fn_[root].op == Op::Buffer) {
                        mark(id);
                    } else if (!overwritten_.dead()[id]) {
                        writers_[root].push_back(id);
                    }
                    break;
                }
                case Form::Print:
                case Form::Sync:
                case Form::Loop: mark(id); break;
                case Form::Jump:
                    if (node.op == Op::Return) {
                        mark(id);
                    } else {
                        jumps_[loop].push_back(id);
                    }
                    break;
                default: break;
            }
            for (const RegionId inner : node.regions) {
                if (inner != ir::none) gather(inner, node.op == Op::If ? loop : id);
            }
        }
    }

    void mark(NodeId id) {
        if (id == ir::none || live_[id]) return;
        live_[id] = true;
        work_.push_back(id);
    }
    void mark_all(std::vector<NodeId>& ids) {
        for (const NodeId id : ids) mark(id);
        ids.clear();
    }

    void follow(NodeId id) {
        const ir::Node& node = fn_[id];
        for (const NodeId used : fn_.args(id)) mark(used);
        if (region_of_[id] != ir::none) mark(owner_of_[region_of_[id]]);
        // A live read of a root makes the writes to it live. An atomic also reads, if its result is used; if
        // it became live by a reader instead, the writers are live already.
        if (ir::traits(node.op).reads && node.count > 0) mark_all(writers_[fn_.arg(id, 0)]);
        if (node.op == Op::For || node.op == Op::Loop) mark_all(jumps_[id]);
    }

    const Function& fn_;
    OverwrittenStores overwritten_;
    std::vector<RegionId> region_of_;
    std::vector<NodeId> owner_of_;
    std::vector<bool> live_;
    std::vector<std::vector<NodeId>> writers_;  // of a Var or Shared root, until a live node reads it
    std::vector<std::vector<NodeId>> jumps_;    // break and continue of a loop, until it is live
    std::vector<NodeId> work_;
};

void drop_empty_arms(Function& fn) {
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        ir::Node& node = fn[id];
        if (node.op == Op::If && node.regions[1] != ir::none && fn.nodes_of(node.regions[1]).empty()) {
            node.regions[1] = ir::none;
        }
    });
}

}  // namespace

void eliminate_dead(Function& fn) {
    drop_unreachable(fn, fn.body);
    drop_useless_jumps(fn);
    const Marker marker(fn);
    erase_nodes(fn, fn.body, [&](NodeId id) { return !marker.live(id); });
    drop_empty_arms(fn);
}

}  // namespace volley::passes
