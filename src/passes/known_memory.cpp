// Locations are compared by the operands of their paths: equal ids are equal locations, different constants
// at the same step are different locations, and all others may be the same.
#include "passes/known_memory.hpp"

#include <algorithm>

namespace volley::passes {

using ir::Function;
using ir::NodeId;
using ir::Op;

namespace {

bool may_overlap(const Function& fn, KnownMemory::Path a, KnownMemory::Path b) {
    const std::size_t shared_steps = std::min(a.size(), b.size());
    for (std::size_t i = 0; i < shared_steps; ++i) {
        if (a[i] == b[i]) continue;
        const auto x = fn.constant_int(a[i]);
        const auto y = fn.constant_int(b[i]);
        // Steps with different constants are enough, whatever follows, because parts do not overlap.
        // Out-of-range constants might, but their values are undefined.
        if (x && y && *x != *y) return false;
    }
    return true;
}

}  // namespace

void KnownMemory::declare(NodeId var) { roots_[var] = {Entry{{}, ir::none}}; }

void KnownMemory::loaded(NodeId root, Path path, NodeId value) {
    roots_[root].push_back({{path.begin(), path.end()}, value});
}

void KnownMemory::overwritten(const Function& fn, NodeId root, Path path) {
    if (fn[root].op == Op::Buffer) forget_buffers(fn, root);
    const auto found = roots_.find(root);
    if (found == roots_.end()) return;
    std::erase_if(found->second, [&](const Entry& entry) { return may_overlap(fn, entry.path, path); });
}

void KnownMemory::stored(const Function& fn, NodeId root, Path path, NodeId value) {
    overwritten(fn, root, path);
    loaded(root, path, value);
}

void KnownMemory::forget_buffers(const Function& fn, NodeId except) {
    for (auto& [root, entries] : roots_) {
        if (root != except && fn[root].op == Op::Buffer) entries.clear();
    }
}

void KnownMemory::forget(const Function& fn, const Effects& effects) {
    if (effects.buffers || effects.sync) forget_buffers(fn, ir::none);
    if (effects.sync) {
        for (auto& [root, entries] : roots_) {
            if (fn[root].op == Op::Shared) entries.clear();
        }
    }
    for (const NodeId root : effects.written) {
        const auto found = roots_.find(root);
        if (found != roots_.end()) found->second.clear();
    }
}

std::optional<KnownMemory::Found> KnownMemory::find(NodeId root, Path path) const {
    const auto found = roots_.find(root);
    if (found == roots_.end()) return std::nullopt;
    std::optional<Found> best;
    for (const Entry& entry : found->second) {
        if (entry.path.size() > path.size() ||
            !std::equal(entry.path.begin(), entry.path.end(), path.begin())) {
            continue;
        }
        if (!best || path.size() - entry.path.size() < best->rest.size()) {
            best = Found{entry.value, path.subspan(entry.path.size())};
        }
    }
    return best;
}

}  // namespace volley::passes
