// Effects are summed bottom up, once per region.
#include "passes/effects.hpp"

#include <algorithm>

namespace volley::passes {

using ir::Form;
using ir::NodeId;
using ir::RegionId;

void Effects::add_root(NodeId root) {
    const auto at = std::lower_bound(written.begin(), written.end(), root);
    if (at == written.end() || *at != root) written.insert(at, root);
}

void Effects::add(const Effects& other) {
    for (const NodeId root : other.written) add_root(root);
    buffers |= other.buffers;
    sync |= other.sync;
}

Effects effects_of(const ir::Function& fn, NodeId id, const std::vector<Effects>& regions) {
    Effects sum;
    const ir::Node& node = fn[id];
    switch (ir::form(node.op)) {
        case Form::Store:
        case Form::Atomic:
        case Form::AtomicCas:
            if (fn[fn.arg(id, 0)].op == ir::Op::Buffer) {
                sum.buffers = true;
            } else {
                sum.add_root(fn.arg(id, 0));
            }
            break;
        case Form::Sync: sum.sync = true; break;
        case Form::If:
        case Form::For:
        case Form::Loop:
            for (const RegionId inner : node.regions) {
                if (inner != ir::none) sum.add(regions[inner]);
            }
            break;
        default: break;
    }
    return sum;
}

namespace {

void visit(const ir::Function& fn, RegionId region, std::vector<Effects>& out) {
    Effects sum;
    for (const NodeId id : fn.nodes_of(region)) {
        for (const RegionId inner : fn[id].regions) {
            if (inner != ir::none) visit(fn, inner, out);
        }
        sum.add(effects_of(fn, id, out));
    }
    out[region] = std::move(sum);
}

}  // namespace

std::vector<Effects> effects_of_regions(const ir::Function& fn) {
    std::vector<Effects> out(fn.regions.size());
    visit(fn, fn.body, out);
    return out;
}

BufferUses buffer_uses(const ir::Function& fn) {
    BufferUses uses{std::vector<bool>(fn.params.size()), std::vector<bool>(fn.params.size())};
    if (fn.foreign) {
        for (std::size_t i = 0; i < fn.params.size(); ++i) {
            uses.reads[i] = fn.params[i].kind == ir::ParamKind::Buffer;
            uses.writes[i] = uses.reads[i] && !fn.params[i].read_only;
        }
    }
    ir::for_each_node(fn, fn.body, [&](NodeId id) {
        const Form form = ir::form(fn[id].op);
        const bool atomic = form == Form::Atomic || form == Form::AtomicCas;
        if (form != Form::Load && form != Form::Store && !atomic) return;
        const ir::Node& root = fn[fn.arg(id, 0)];
        if (root.op != ir::Op::Buffer) return;
        const auto parameter = static_cast<std::size_t>(root.imm);
        if (form != Form::Store) uses.reads[parameter] = true;
        if (form != Form::Load) uses.writes[parameter] = true;
    });
    return uses;
}

std::vector<bool> BufferUses::written_only() const {
    std::vector<bool> only = writes;
    for (std::size_t i = 0; i < only.size(); ++i) only[i] = only[i] && !reads[i];
    return only;
}

}  // namespace volley::passes
