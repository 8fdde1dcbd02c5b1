// Conditions nested deeper than a device can keep apart are laid side by side: what stood inside of such an
// If follows it, under conditions of its own that are kept in variables, as are values that now cross from
// one arm into another.
//
// Needs: a verified function. Leaves: an equal one (docs/ir.md) in which no If is inside of more than `limit`
// others. A function that is not so deep stays as it is.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

/// How many Ifs are inside of each other at most.
[[nodiscard]] unsigned nesting(const ir::Function& fn);

/// `limit` is at least 1.
void lower_nesting(ir::Function& fn, unsigned limit);

}  // namespace volley::passes
