// The standard order of the passes that change a function, for every backend.
//
// Needs: a verified function. Leaves: an equal one (docs/ir.md), folded, without common or dead operations,
// with narrow loads and, for devices that multiply and add in one step, contracted. The result depends on the
// function alone, so that all of these devices run the same operations.
#pragma once

#include "ir/function.hpp"

#include <functional>

namespace volley::passes {

struct OptimiseOptions {
    /// Called after each pass that runs, with its name; VOLLEY_DUMP=ir prints from here.
    std::function<void(std::string_view pass, const ir::Function&)> dump = {};
    /// Verify after each pass: a defect shows where it is made.
#ifdef NDEBUG
    bool verify = false;
#else
    bool verify = true;
#endif
};

/// All passes: clean() and contract().
void optimise(ir::Function& fn, const OptimiseOptions& options = {});

/// What every device gets.
void clean(ir::Function& fn, const OptimiseOptions& options = {});
/// For a cleaned function, on a device with DeviceInfo::fused_fma.
void contract(ir::Function& fn, const OptimiseOptions& options = {});

}  // namespace volley::passes
