// Which control flow of a kernel runs under masks: computed once before code is written.
#pragma once

#include "ir/function.hpp"

#include <functional>
#include <vector>

namespace volley::codegen::llvm {

struct ControlPlan {
    /// If: its condition differs between lanes. For, Loop: lanes leave it at different times.
    std::vector<bool> divergent;
    /// After this node some lanes may be gone that were live before it.
    std::vector<bool> kills;
    /// For, Loop: some lanes continue while others go on.
    std::vector<bool> masked_continue;
};

/// `uniform(id)`: all live lanes agree on the value.
[[nodiscard]] ControlPlan plan_control(const ir::Function& fn,
                                       const std::function<bool(ir::NodeId)>& uniform);

}  // namespace volley::codegen::llvm
