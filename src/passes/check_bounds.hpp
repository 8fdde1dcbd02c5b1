// Bounds checks, for VOLLEY_CHECK=bounds: every access outside of its buffer, array or vector is left undone
// and reported with its source line. A load that is left undone gives zero, an atomic too.
//
// Needs: a verified function as it was traced; run it before optimise(), which merges equal checks. Leaves: a
// function none of whose accesses is out of bounds. Reports are prints whose format starts with
// bounds_report, so that they come out where prints do; a runtime that wants an error looks for that start.
#pragma once

#include "ir/function.hpp"

namespace volley::passes {

/// How the format of a report starts; the first character keeps users' prints apart. "out of bounds:
/// k.cpp:12: index 16 of buffer 'data', which has 16 elements"
inline constexpr std::string_view bounds_report = "\x01out of bounds: ";

void check_bounds(ir::Function& fn);

}  // namespace volley::passes
