// Determines which control flow of a kernel runs under masks, before code is emitted.
#pragma once

#include "ir/function.hpp"

#include <functional>
#include <vector>

namespace volley::codegen::llvm {

struct ControlPlan {
    /// If: the condition differs between lanes. For, Loop: lanes leave it at different times.
    std::vector<bool> divergent;
    /// Lanes that are live before this node may be inactive after it.
    std::vector<bool> kills;
    /// For, Loop: some lanes `continue` while others run on.
    std::vector<bool> masked_continue;
};

/// `uniform(id)` returns true if all live lanes agree on the value.
[[nodiscard]] ControlPlan plan_control(const ir::Function& fn,
                                       const std::function<bool(ir::NodeId)>& uniform);

}  // namespace volley::codegen::llvm
