// Builds a tree of the parts that the extracts of each load reach, and emits loads for the tree nodes that
// are used as a whole.
#include "passes/narrow_loads.hpp"

#include "passes/rewrite.hpp"

#include <map>

namespace volley::passes {
namespace {

using ir::Function;
using ir::NodeId;
using ir::Op;
using ir::RegionId;

// A part of a composite, and which of its parts are used.
struct Part {
    bool whole = false;  // used as a whole
    std::map<std::uint64_t, Part> parts;
    std::vector<NodeId> extracts;  // that end at this part
};

// Returns the number of scalars that are needed; marks parts that are better loaded as a whole.
std::uint64_t settle(Part& part, DType type) {
    std::uint64_t needed = 0;
    for (auto& [index, inner] : part.parts) needed += settle(inner, type.part(index));
    const bool packed = type.is_vector() || type.is_complex();
    // Loads a composite as a whole if all of it is used, or more than one component of a packed one.
    if (needed == type.leaf_count() || (packed && part.parts.size() > 1)) part.whole = true;
    return part.whole ? type.leaf_count() : needed;
}

class Narrow {
public:
    explicit Narrow(Function& fn) : fn_(fn), uses_(fn.nodes.size()) {
        ir::for_each_node(fn, fn.body, [&](NodeId id) {
            for (const NodeId used : fn_.args(id)) {
                if (is_composite_load(used)) uses_[used].push_back(id);
            }
        });
    }

    void region(RegionId id) {
        std::vector<NodeId> list;
        list.reserve(fn_.nodes_of(id).size());
        for (std::size_t i = 0; i < fn_.nodes_of(id).size(); ++i) {
            const NodeId node = fn_.nodes_of(id)[i];
            if (!is_composite_load(node) || !narrow(node, list)) list.push_back(node);
            const ir::Node copy = fn_[node];
            for (const RegionId inner : copy.regions) {
                if (inner != ir::none) region(inner);
            }
        }
        fn_.regions[id].nodes = std::move(list);
    }

    void finish() {
        replaced_.apply(fn_);
        erase_nodes(fn_, fn_.body, [&](NodeId id) { return replaced_.of(id) != id; });
    }

private:
    [[nodiscard]] bool is_composite_load(NodeId id) const {
        return fn_[id].op == Op::Load && !fn_[id].type.is_scalar();
    }

    // Replaces the load by loads of its parts, which it appends to the list. Returns whether it did.
    bool narrow(NodeId load, std::vector<NodeId>& list) {
        if (load >= uses_.size() || uses_[load].empty()) return false;
        Part root;
        for (const NodeId use : uses_[load]) {
            if (fn_[use].op != Op::Extract || fn_.arg(use, 0) != load) return false;
            if (!add(root, load, use)) return false;
        }
        const DType type = fn_.type(load);
        if (settle(root, type) == type.leaf_count()) return false;
        std::vector<NodeId> path(fn_.args(load).begin(), fn_.args(load).end());
        emit(load, root, type, path, list);
        return true;
    }

    // Adds one extract to the tree; a computed step ends the path, as a use of the whole part.
    bool add(Part& root, NodeId load, NodeId extract) {
        Part* at = &root;
        DType type = fn_.type(load);
        for (const NodeId step : fn_.args(extract).subspan(1)) {
            const auto index = fn_.constant_int(step);
            if (!index) break;
            if (*index < 0 || static_cast<std::uint64_t>(*index) >= type.count()) return false;
            const auto number = static_cast<std::uint64_t>(*index);
            at = &at->parts[number];
            type = type.part(number);
        }
        at->extracts.push_back(extract);
        at->whole = true;
        return true;
    }

    void emit(NodeId load, const Part& part, DType type, std::vector<NodeId>& path,
              std::vector<NodeId>& list) {
        if (part.whole) {
            const NodeId id = fn_.add(Op::Load, type, path, 0, fn_[load].loc);
            list.push_back(id);
            redirect(part, id, path.size() - fn_[load].count);
            return;
        }
        for (const auto& [index, inner] : part.parts) {
            // Creates a new constant, because that of the extract may come after the load.
            const NodeId step = fn_.add(Op::Const, ScalarType::U32, {}, index, fn_[load].loc);
            list.push_back(step);
            path.push_back(step);
            emit(load, inner, type.part(index), path, list);
            path.pop_back();
        }
    }

    // Redirects the extracts of a part and of its parts to the new load, and removes the first `done` steps
    // of their paths.
    void redirect(const Part& part, NodeId value, std::size_t done) {
        for (const NodeId extract : part.extracts) {
            std::vector<NodeId> args(fn_.args(extract).begin() + static_cast<std::ptrdiff_t>(done),
                                     fn_.args(extract).end());
            args[0] = value;
            if (args.size() == 1) {
                replaced_.set(extract, value);
            } else {
                set_args(fn_, extract, args);
            }
        }
        for (const auto& [index, inner] : part.parts) redirect(inner, value, done);
    }

    Function& fn_;
    std::vector<std::vector<NodeId>> uses_;  // of composite loads
    Replacements replaced_;
};

}  // namespace

void narrow_loads(Function& fn) {
    Narrow pass(fn);
    pass.region(fn.body);
    pass.finish();
}

}  // namespace volley::passes
