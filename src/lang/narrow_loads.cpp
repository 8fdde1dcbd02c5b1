// See narrow_loads.hpp. One walk finds the loads and their uses, one rewrites the regions.
#include "lang/narrow_loads.hpp"

#include <algorithm>
#include <unordered_map>

namespace volley::lang {
namespace {

using ir::NodeId;
using ir::Op;
using Path = std::vector<std::uint32_t>;

class Narrower {
public:
    explicit Narrower(ir::Function& fn) : fn_(fn) {}

    void run() {
        ir::for_each_node(fn_, fn_.body, [&](NodeId id) { note_uses(id); });
        std::erase_if(extracts_, [&](const auto& entry) { return blocked_.contains(entry.first); });
        if (extracts_.empty()) return;
        for (ir::RegionId r = 0; r < fn_.regions.size(); ++r) rewrite(r);
        for (NodeId& operand : fn_.operands) {
            const auto found = replaced_.find(operand);
            if (found != replaced_.end()) operand = found->second;
        }
    }

private:
    bool is_composite_load(NodeId id) const { return fn_[id].op == Op::Load && !fn_.type(id).is_scalar(); }

    void note_uses(NodeId id) {
        const auto args = fn_.args(id);
        for (std::size_t k = 0; k < args.size(); ++k) {
            if (!is_composite_load(args[k])) continue;
            const bool constant = fn_[id].op == Op::Extract && k == 0 &&
                                  std::all_of(args.begin() + 1, args.end(),
                                              [&](NodeId step) { return fn_.is_constant(step); });
            if (constant) {
                extracts_[args[k]].push_back(id);
            } else {
                blocked_[args[k]] = true;
            }
        }
    }

    Path path_of(NodeId extract) const {
        Path path;
        for (const NodeId step : fn_.args(extract).subspan(1)) {
            path.push_back(static_cast<std::uint32_t>(fn_[step].imm));
        }
        return path;
    }

    // How many steps lead through structs and arrays; what follows selects components.
    std::size_t outer_steps(DType type, const Path& path) const {
        std::size_t k = 0;
        while (k < path.size() && (type.is_struct() || type.is_array())) type = type.part(path[k++]);
        return k;
    }

    DType type_at(DType type, const Path& path) const {
        for (const std::uint32_t step : path) type = type.part(step);
        return type;
    }

    void rewrite(ir::RegionId r) {
        const bool touched = std::any_of(fn_.regions[r].nodes.begin(), fn_.regions[r].nodes.end(), [&](NodeId id) {
            return extracts_.contains(id) || (fn_[id].op == Op::Extract && extracts_.contains(fn_.arg(id, 0)));
        });
        if (!touched) return;
        std::vector<NodeId> nodes;
        nodes.swap(fn_.regions[r].nodes);
        for (const NodeId id : nodes) {
            if (replaced_.contains(id)) continue;
            const auto found = extracts_.find(id);
            if (found == extracts_.end() || !narrow(id, found->second, r)) fn_.regions[r].nodes.push_back(id);
        }
    }

    // Puts narrower loads at the end of the region, where the whole one would come. False when the whole is needed.
    bool narrow(NodeId load, const std::vector<NodeId>& extracts, ir::RegionId r) {
        const DType type = fn_.type(load);
        struct Group {
            Path outer;
            std::vector<std::pair<Path, NodeId>> inner;  // the rest of the path, and the extract
        };
        std::vector<Group> groups;
        for (const NodeId extract : extracts) {
            Path path = path_of(extract);
            const std::size_t split = outer_steps(type, path);
            Path outer(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(split));
            path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(split));
            auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.outer == outer; });
            if (group == groups.end()) group = groups.insert(groups.end(), Group{std::move(outer), {}});
            group->inner.emplace_back(std::move(path), extract);
        }
        if (groups.size() == 1 && groups[0].outer.empty() && !is_partial(type, groups[0].inner)) return false;

        for (const Group& group : groups) {
            const DType reached = type_at(type, group.outer);
            if (is_partial(reached, group.inner)) {
                std::vector<std::pair<Path, NodeId>> loads;
                for (const auto& [inner, extract] : group.inner) {
                    Path path = group.outer;
                    path.insert(path.end(), inner.begin(), inner.end());
                    auto known = std::find_if(loads.begin(), loads.end(), [&](const auto& l) { return l.first == path; });
                    if (known == loads.end()) known = loads.insert(loads.end(), {path, add_load(load, path, r)});
                    replaced_[extract] = known->second;
                }
                continue;
            }
            const NodeId whole = add_load(load, group.outer, r);
            for (const auto& [inner, extract] : group.inner) {
                if (inner.empty()) {
                    replaced_[extract] = whole;
                } else {
                    shorten(extract, whole, inner.size());
                }
            }
        }
        return true;
    }

    // Whether only some of the components of a vector, complex number or matrix are used.
    static bool is_partial(DType type, const std::vector<std::pair<Path, NodeId>>& uses) {
        std::uint64_t seen = 0;
        for (const auto& [path, extract] : uses) {
            if (path.empty()) return false;
            seen |= std::uint64_t{1} << (path[0] & 63);
        }
        return static_cast<std::uint64_t>(__builtin_popcountll(seen)) < type.count();
    }

    NodeId add_load(NodeId load, const Path& path, ir::RegionId r) {
        const ir::Loc loc = fn_[load].loc;
        const auto args = fn_.args(load);
        std::vector<NodeId> operands(args.begin(), args.end());
        for (const std::uint32_t step : path) {
            operands.push_back(fn_.add(Op::Const, ScalarType::U32, {}, step, loc));
            fn_.regions[r].nodes.push_back(operands.back());
        }
        const NodeId id = fn_.add(Op::Load, type_at(fn_.type(load), path), operands, 0, loc);
        fn_.regions[r].nodes.push_back(id);
        return id;
    }

    // The extract now starts at `whole`, with the last `steps` of its path.
    void shorten(NodeId extract, NodeId whole, std::size_t steps) {
        ir::Node& node = fn_[extract];
        node.first += static_cast<std::uint32_t>(node.count - 1 - steps);
        node.count = static_cast<std::uint32_t>(steps + 1);
        fn_.operands[node.first] = whole;
    }

    ir::Function& fn_;
    std::unordered_map<NodeId, std::vector<NodeId>> extracts_;  // by load
    std::unordered_map<NodeId, bool> blocked_;                  // loads with other uses
    std::unordered_map<NodeId, NodeId> replaced_;               // extracts by loads
};

}  // namespace

void narrow_loads(ir::Function& fn) { Narrower(fn).run(); }

}  // namespace volley::lang
