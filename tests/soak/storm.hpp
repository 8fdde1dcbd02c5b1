// Drops the last handle of a context while other threads use its objects.
#pragma once

#include "soak/kernels.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace volley::soak {

/// Each call either works or throws LaunchError (WrongContext). Throws std::runtime_error if a thread sees
/// any other error.
void storm(std::uint64_t seed, const std::vector<std::string>& devices, const Kernels& kernels);

}  // namespace volley::soak
