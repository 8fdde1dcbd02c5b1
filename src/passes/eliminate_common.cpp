// One walk in execution order. Known expressions are in a scoped hash table (those of a region are removed at
// its end, so that a match always dominates its use); known memory is copied at the entry of each region.
#include "passes/eliminate_common.hpp"

#include "passes/known_memory.hpp"
#include "passes/rewrite.hpp"

#include <algorithm>
#include <bit>

namespace volley::passes {
namespace {

using ir::Form;
using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

// A hash table of pure nodes whose entries are removed in the reverse order of their insertion.
class Expressions {
public:
    explicit Expressions(const Function& fn)
        : fn_(fn), heads_(std::bit_ceil(2 * fn.nodes.size() + 16), ir::none) {}

    // Returns an equal earlier node, or adds id and returns it.
    NodeId find_or_add(NodeId id) {
        const std::size_t bucket = hash(id) & (heads_.size() - 1);
        for (std::uint32_t at = heads_[bucket]; at != ir::none; at = entries_[at].next) {
            if (equal(entries_[at].id, id)) return entries_[at].id;
        }
        entries_.push_back({id, heads_[bucket], bucket});
        heads_[bucket] = static_cast<std::uint32_t>(entries_.size() - 1);
        return id;
    }

    [[nodiscard]] std::size_t mark() const noexcept { return entries_.size(); }
    void drop_to(std::size_t mark) {
        for (; entries_.size() > mark; entries_.pop_back())
            heads_[entries_.back().bucket] = entries_.back().next;
    }

private:
    struct Entry {
        NodeId id;
        std::uint32_t next;
        std::size_t bucket;
    };

    [[nodiscard]] NodeId operand(NodeId id, unsigned k) const {
        if (k > 1 || fn_[id].count < 2 || !ir::is_commutative(fn_[id].op)) return fn_.arg(id, k);
        const NodeId a = fn_.arg(id, 0);
        const NodeId b = fn_.arg(id, 1);
        return k == 0 ? std::min(a, b) : std::max(a, b);
    }

    [[nodiscard]] std::size_t hash(NodeId id) const {
        const ir::Node& node = fn_[id];
        std::uint64_t h = static_cast<std::uint64_t>(node.op) * 0x9e3779b97f4a7c15u;
        const auto mix = [&h](std::uint64_t v) {
            h = (h ^ v) * 0xff51afd7ed558ccdu;
            h ^= h >> 32;
        };
        mix(reinterpret_cast<std::uintptr_t>(node.type.info()));
        mix(node.imm);
        for (unsigned k = 0; k < node.count; ++k) mix(operand(id, k));
        return static_cast<std::size_t>(h);
    }

    [[nodiscard]] bool equal(NodeId a, NodeId b) const {
        const ir::Node& x = fn_[a];
        const ir::Node& y = fn_[b];
        if (x.op != y.op || x.type != y.type || x.imm != y.imm || x.count != y.count) return false;
        for (unsigned k = 0; k < x.count; ++k) {
            if (operand(a, k) != operand(b, k)) return false;
        }
        return true;
    }

    const Function& fn_;
    std::vector<std::uint32_t> heads_;
    std::vector<Entry> entries_;
};

class Walk {
public:
    explicit Walk(Function& fn) : fn_(fn), expressions_(fn), effects_(effects_of_regions(fn)) {}

    void region(RegionId id) {
        const std::size_t mark = expressions_.mark();
        std::vector<NodeId> kept;
        kept.reserve(fn_.regions[id].nodes.size());
        for (const NodeId node : fn_.regions[id].nodes) {
            if (keep(node)) kept.push_back(node);
        }
        fn_.regions[id].nodes = std::move(kept);
        expressions_.drop_to(mark);
    }

private:
    // Returns whether the node stays in its region.
    bool keep(NodeId id) {
        replaced_.apply(fn_, id);
        const ir::Node node = fn_[id];
        if (ir::traits(node.op).pure) {
            if (node.op == Op::Param) return true;  // one node per parameter, by construction
            return keep_unless(id, expressions_.find_or_add(id));
        }
        switch (ir::form(node.op)) {
            case Form::Root:
                if (node.op == Op::Var) memory_.declare(id);
                return true;
            case Form::Load: return keep_load(id);
            case Form::Store:
                memory_.stored(fn_, fn_.arg(id, 0), fn_.args(id).subspan(2), fn_.arg(id, 1));
                return true;
            case Form::Atomic:
            case Form::AtomicCas:
                memory_.overwritten(fn_, fn_.arg(id, 0), fn_.args(id).subspan(ir::path_start(node.op)));
                return true;
            case Form::If:
            case Form::For:
            case Form::Loop: inside(id); return true;
            default: memory_.forget(fn_, effects_of(fn_, id, effects_)); return true;
        }
    }

    bool keep_unless(NodeId id, NodeId known) {
        if (known == id) return true;
        replaced_.set(id, known);
        return false;
    }

    bool keep_load(NodeId id) {
        const NodeId root = fn_.arg(id, 0);
        const auto found = memory_.find(root, fn_.args(id).subspan(1));
        // Indexing a value by a computed index would need memory again, so the load is kept.
        const bool in_registers = found && (found->value == ir::none ||
                                            std::all_of(found->rest.begin(), found->rest.end(),
                                                        [&](NodeId step) { return fn_.is_constant(step); }));
        if (!in_registers) {
            memory_.loaded(root, fn_.args(id).subspan(1), id);
            return true;
        }
        if (found->value == ir::none) {  // a variable without a store
            fn_[id].op = Op::Zero;
            fn_[id].count = 0;
            return keep_unless(id, expressions_.find_or_add(id));
        }
        if (found->rest.empty()) return keep_unless(id, found->value);
        const std::vector<NodeId> path(fn_.args(id).begin() + 1, fn_.args(id).end());
        std::vector<NodeId> args = {found->value};
        args.insert(args.end(), found->rest.begin(), found->rest.end());
        fn_[id].op = Op::Extract;
        set_args(fn_, id, args);
        const NodeId part = expressions_.find_or_add(id);
        memory_.loaded(root, path, part);  // stays valid after a store to another part
        return keep_unless(id, part);
    }

    void inside(NodeId id) {
        const Effects effects = effects_of(fn_, id, effects_);
        // The body of a loop may have run before, so nothing that it writes is known at its start.
        if (fn_[id].op != Op::If) memory_.forget(fn_, effects);
        for (const RegionId inner : {fn_[id].regions[0], fn_[id].regions[1]}) {
            if (inner == ir::none) continue;
            const KnownMemory before = memory_;
            region(inner);
            memory_ = before;
        }
        memory_.forget(fn_, effects);
    }

    Function& fn_;
    Expressions expressions_;
    std::vector<Effects> effects_;
    KnownMemory memory_;
    Replacements replaced_;
};

}  // namespace

void eliminate_common(Function& fn) { Walk(fn).region(fn.body); }

}  // namespace volley::passes
