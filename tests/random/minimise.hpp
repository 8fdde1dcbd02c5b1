// Shrinks a failing program: deletes statements and values greedily as long as it still fails.
#pragma once

#include "random/program.hpp"

#include <functional>

namespace volley::testing {

/// `fails` returns true if a candidate still shows the failure; it must not throw. Candidates are verified
/// kernels without new races: whatever orders or addresses writes that others see is kept.
[[nodiscard]] Program minimise(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace volley::testing
