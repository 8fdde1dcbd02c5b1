// Adds bounds checks for VOLLEY_CHECK=bounds: every access outside its buffer, array or vector is skipped and
// reported with its source line. A skipped load or atomic returns zero.
//
// Requires: a verified function as traced; runs before optimise(), which merges equal checks. Ensures: no
// access is out of bounds. Reports are prints whose format starts with bounds_report, so that they appear in
// the output of prints; a runtime can detect the prefix and raise an error.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

/// The prefix of a report's format; its first character distinguishes it from prints of the user. Example:
/// "out of bounds: k.cpp:12: index 16 of parameter 1, which has 16 elements, in invocation (16, 0, 0)"
inline constexpr std::string_view bounds_report = "\x01out of bounds: ";

void check_bounds(ir::Function& fn);

}  // namespace volley::passes
