// Finds groups of scalar accesses in which each lane loads or stores R consecutive items (data[R * i + k] for
// k = 0 .. R - 1). A group becomes R vector accesses and a transpose in registers instead of strided or
// scattered accesses.
#pragma once

#include "ir/function.hpp"
#include "passes/access.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace volley::codegen::llvm {

/// Members are in address order. Grouped loads are emitted at the first member in program order, stores at
/// the last.
struct AccessGroup {
    std::vector<ir::NodeId> members;
    ir::NodeId place = ir::none;  // the member at which the group is emitted
};

class AccessGroups {
public:
    /// Returns null for accesses that belong to no group.
    [[nodiscard]] const AccessGroup* find(ir::NodeId access) const {
        const auto found = of_.find(access);
        return found == of_.end() ? nullptr : found->second;
    }

    /// Dissolves the groups for which `apart` holds, because code will be inserted between their members.
    template <class Apart>
    void dissolve_if(Apart&& apart) {
        for (const auto& group : groups_) {
            if (!apart(*group)) continue;
            for (const ir::NodeId member : group->members) of_.erase(member);
        }
    }

private:
    friend class GroupFinder;
    std::vector<std::unique_ptr<AccessGroup>> groups_;
    std::unordered_map<ir::NodeId, const AccessGroup*> of_;
};

[[nodiscard]] AccessGroups find_access_groups(const ir::Function& fn, const passes::LaneAnalysis& lanes);

}  // namespace volley::codegen::llvm
