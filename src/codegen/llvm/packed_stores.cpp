// A lane's rank counts the lower lanes with a true flag. If the store is in the `$if` of that flag, in the
// region of the rank, and no lane becomes inactive between them, the ranks of the storing lanes are 0, 1, ...
#include "codegen/llvm/packed_stores.hpp"

#include <algorithm>
#include <optional>

namespace volley::codegen::llvm {

using ir::NodeId;
using ir::Op;
using ir::RegionId;

namespace {

class PackedStoreFinder {
public:
    PackedStoreFinder(const ir::Function& fn, const std::vector<bool>& kills) : fn_(fn), kills_(kills) {}

    std::unordered_map<NodeId, NodeId> run() {
        region(fn_.body);
        return std::move(found_);
    }

private:
    struct Rank {
        NodeId node;
        NodeId flag;
    };

    // Returns the condition that is 1 or 0 in the operand of a sum of flags.
    [[nodiscard]] std::optional<NodeId> flag_of(NodeId sum) const {
        const DType type = fn_.type(sum);
        if (!type.is_scalar() || bits_of(type.scalar()) != 32 || is_float(type.scalar())) return std::nullopt;
        const NodeId number = fn_.arg(sum, 0);
        if (fn_[number].op == Op::Convert && fn_.type(fn_.arg(number, 0)) == DType(ScalarType::Bool))
            return fn_.arg(number, 0);
        if (fn_[number].op == Op::Select && fn_.constant_int(fn_.arg(number, 1)) == 1 &&
            fn_.constant_int(fn_.arg(number, 2)) == 0)
            return fn_.arg(number, 0);
        return std::nullopt;
    }

    [[nodiscard]] unsigned occurrences(NodeId sum, NodeId term) const {
        if (sum == term) return 1;
        if (fn_[sum].op != Op::Add) return 0;
        return occurrences(fn_.arg(sum, 0), term) + occurrences(fn_.arg(sum, 1), term);
    }

    void stores_of(RegionId side, NodeId flag, const std::vector<Rank>& ranks) {
        for (const NodeId id : fn_.nodes_of(side)) {
            if (kills_[id]) return;
            if (fn_[id].op != Op::Store || fn_[fn_.arg(id, 0)].op == Op::Var) continue;
            const std::span<const NodeId> path = fn_.args(id).subspan(ir::path_start(Op::Store));
            if (path.size() != 1) continue;
            for (const Rank& rank : ranks) {
                if (rank.flag == flag && occurrences(path[0], rank.node) == 1) found_[id] = rank.node;
            }
        }
    }

    void region(RegionId r) {
        std::vector<Rank> ranks;  // of the lanes that are active here
        for (const NodeId id : fn_.nodes_of(r)) {
            const ir::Node& node = fn_[id];
            if (node.op == Op::SubgroupExclusiveAdd) {
                if (const std::optional<NodeId> flag = flag_of(id)) ranks.push_back({id, *flag});
            }
            if (node.op == Op::If) stores_of(node.regions[0], fn_.arg(id, 0), ranks);
            for (const RegionId inner : node.regions) {
                if (inner != ir::none) region(inner);
            }
            if (kills_[id]) ranks.clear();
        }
    }

    const ir::Function& fn_;
    const std::vector<bool>& kills_;
    std::unordered_map<NodeId, NodeId> found_;
};

}  // namespace

std::unordered_map<NodeId, NodeId> find_packed_stores(const ir::Function& fn,
                                                      const std::vector<bool>& kills) {
    return PackedStoreFinder(fn, kills).run();
}

std::vector<NodeId> other_terms(const ir::Function& fn, NodeId sum, NodeId term) {
    if (sum == term) return {};
    if (fn[sum].op != Op::Add) return {sum};
    std::vector<NodeId> terms = other_terms(fn, fn.arg(sum, 0), term);
    const std::vector<NodeId> right = other_terms(fn, fn.arg(sum, 1), term);
    terms.insert(terms.end(), right.begin(), right.end());
    return terms;
}

}  // namespace volley::codegen::llvm
