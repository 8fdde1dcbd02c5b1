// The standard sequence of passes, for every backend.
//
// Requires: a verified function. Ensures: an equivalent function (docs/ir.md) with guarded loads, folded,
// without common or dead operations, with narrow loads and, for devices with fused multiply-add, contracted.
// The result depends only on the function, so that all of these devices run the same operations.
#pragma once

#include "ir/function.hpp"

#include <functional>

namespace volley::passes {

struct OptimiseOptions {
    /// Called after each pass with its name; VOLLEY_DUMP=ir uses it to print the function.
    std::function<void(std::string_view pass, const ir::Function&)> dump = {};
    /// Verify after each pass, to attribute a defect to the pass that caused it.
#ifdef NDEBUG
    bool verify = false;
#else
    bool verify = true;
#endif
};

/// Runs all passes: clean() and contract().
void optimise(ir::Function& fn, const OptimiseOptions& options = {});

/// Runs the passes that apply to every device.
void clean(ir::Function& fn, const OptimiseOptions& options = {});
/// Contracts a cleaned function, for devices with DeviceInfo::fused_fma.
void contract(ir::Function& fn, const OptimiseOptions& options = {});

}  // namespace volley::passes
