// Makes a failing program smaller: greedy deletion of statements and values for as long as it still fails.
#pragma once

#include "random/program.hpp"

#include <functional>

namespace volley::testing {

/// `fails` says whether a candidate still shows the failure; it must not throw. Candidates are verified
/// kernels without new races: what orders or places writes that others see is left alone.
[[nodiscard]] Program minimise(Program program, const std::function<bool(const Program&)>& fails);

}  // namespace volley::testing
