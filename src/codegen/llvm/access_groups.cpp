// Groups accesses within straight-line code: candidates are collected until an operation intervenes that
// could observe the reordering.
#include "codegen/llvm/access_groups.hpp"

#include <algorithm>
#include <tuple>

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;
using ir::RegionId;
using passes::LaneShape;

class GroupFinder {
public:
    GroupFinder(const ir::Function& fn, const passes::LaneAnalysis& lanes) : fn_(fn), lanes_(lanes) {}

    AccessGroups run() {
        region(fn_.body);
        return std::move(result_);
    }

private:
    static constexpr std::int64_t max_items = 16;

    struct Candidate {
        NodeId node;
        NodeId root;
        NodeId base;  // the index is base + distance
        std::int64_t distance;
        std::int64_t stride;  // items between lanes
        std::size_t order;    // position in the region
    };

    // Splits an index into base + constant; any other index is itself + 0. Distances between members are
    // exact, because all members are in bounds.
    std::pair<NodeId, std::int64_t> split(NodeId index) const {
        const ir::Node& node = fn_[index];
        if (node.op != Op::Add && node.op != Op::Sub) return {index, 0};
        const bool narrow = bits_of(node.type.scalar()) == 32;
        const auto number = [&](std::int64_t v) {
            return narrow ? std::int64_t{static_cast<std::int32_t>(static_cast<std::uint32_t>(v))} : v;
        };
        if (const auto k = fn_.constant_int(fn_.arg(index, 1))) {
            return {fn_.arg(index, 0), node.op == Op::Add ? number(*k) : -number(*k)};
        }
        if (const auto k = fn_.constant_int(fn_.arg(index, 0)); k && node.op == Op::Add) {
            return {fn_.arg(index, 1), number(*k)};
        }
        return {index, 0};
    }

    bool candidate(NodeId id, std::size_t order, Candidate& out) const {
        const ir::Node& node = fn_[id];
        const NodeId root = fn_.arg(id, 0);
        const std::span<const NodeId> path = fn_.args(id).subspan(ir::path_start(node.op));
        if (path.size() != 1) return false;
        const DType element = fn_[root].op == Op::Buffer  ? fn_.type(root)
                              : fn_.type(root).is_array() ? fn_.type(root).part(0)
                                                          : DType();
        if (!element.is_scalar()) return false;
        const LaneShape shape = lanes_.shape(path[0]);
        if (shape.kind != LaneShape::Affine || shape.stride < 2 || shape.stride > max_items) return false;
        const auto [base, distance] = split(path[0]);
        out = {id, root, base, distance, shape.stride, order};
        return true;
    }

    void region(RegionId r) {
        std::vector<Candidate> loads;
        std::vector<Candidate> stores;
        std::size_t order = 0;
        for (const NodeId id : fn_.nodes_of(r)) {
            const ir::Node& node = fn_[id];
            ++order;
            const bool access =
                (node.op == Op::Load || node.op == Op::Store) && fn_[fn_.arg(id, 0)].op != Op::Var;
            if (access) {
                // A load must see earlier stores; a store must not move past a load or a store of another
                // group.
                Candidate c{};
                const bool fits = candidate(id, order, c);
                const Op memory = fn_[fn_.arg(id, 0)].op;
                if (node.op == Op::Load) {
                    close(stores, memory, true);
                    if (fits) loads.push_back(c);
                } else {
                    close(loads, memory, false);
                    const bool same =
                        fits && std::all_of(stores.begin(), stores.end(), [&](const Candidate& s) {
                            return fn_[s.root].op != memory ||
                                   (s.root == c.root && s.base == c.base && s.stride == c.stride &&
                                    s.distance != c.distance);
                        });
                    if (!same) close(stores, memory, true);
                    if (fits) stores.push_back(c);
                }
            } else if (ir::traits(node.op).reads || ir::traits(node.op).writes ||
                       ir::traits(node.op).control) {
                if (node.op != Op::Load && node.op != Op::Store) {
                    close_all(loads, false);
                    close_all(stores, true);
                }
            }
            for (const RegionId inner : node.regions) {
                if (inner != ir::none) region(inner);
            }
        }
        close_all(loads, false);
        close_all(stores, true);
    }

    void close_all(std::vector<Candidate>& open, bool stores) {
        close(open, Op::Buffer, stores);
        close(open, Op::Shared, stores);
    }

    // Forms groups from the candidates in one kind of memory and removes all of these candidates.
    void close(std::vector<Candidate>& open, Op memory, bool stores) {
        std::vector<Candidate> mine;
        std::erase_if(open, [&](const Candidate& c) {
            if (fn_[c.root].op != memory) return false;
            mine.push_back(c);
            return true;
        });
        std::sort(mine.begin(), mine.end(), [](const Candidate& a, const Candidate& b) {
            return std::tie(a.root, a.base, a.stride, a.distance, a.order) <
                   std::tie(b.root, b.base, b.stride, b.distance, b.order);
        });
        for (std::size_t i = 0; i < mine.size();) {
            const auto items = static_cast<std::size_t>(mine[i].stride);
            const auto follows = [&](std::size_t k) {
                const Candidate& first = mine[i];
                const Candidate& c = mine[i + k];
                return c.root == first.root && c.base == first.base && c.stride == first.stride &&
                       c.distance == first.distance + static_cast<std::int64_t>(k);
            };
            bool whole = i + items <= mine.size();
            for (std::size_t k = 1; whole && k < items; ++k) whole = follows(k);
            if (!whole) {
                ++i;
                continue;
            }
            auto group = std::make_unique<AccessGroup>();
            std::size_t place = mine[i].order;
            for (std::size_t k = 0; k < items; ++k) {
                const Candidate& c = mine[i + k];
                if (group->place == ir::none || (stores ? c.order > place : c.order < place)) {
                    group->place = c.node;
                    place = c.order;
                }
                group->members.push_back(c.node);
            }
            for (const NodeId member : group->members) result_.of_[member] = group.get();
            result_.groups_.push_back(std::move(group));
            i += items;
        }
    }

    const ir::Function& fn_;
    const passes::LaneAnalysis& lanes_;
    AccessGroups result_;
};

AccessGroups find_access_groups(const ir::Function& fn, const passes::LaneAnalysis& lanes) {
    return GroupFinder(fn, lanes).run();
}

}  // namespace volley::codegen::llvm
