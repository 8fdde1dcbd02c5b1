// Generates random kernels that follow docs/ir.md and whose results it defines bit by bit: no races, no
// out-of-bounds accesses, no barriers in divergent control flow, and no results that are left open (the sign
// of min(0, -0), NaN payloads, the order of float atomics).
#pragma once

#include "random/program.hpp"

namespace volley::testing {

struct GeneratorOptions {
    bool floats = true;        // otherwise only integers and bool
    bool functions = true;     // functions with an error bound, stored directly into separate buffers
    bool subgroups = false;    // subgroup operations
    bool barriers = true;      // shared memory
    unsigned statements = 24;  // approximate number
    unsigned observed = 4;     // values stored at the end, in addition to most variables
};

[[nodiscard]] Program generate(std::uint64_t seed, const GeneratorOptions& options = {});

/// Options that vary with the seed, so one run covers all kinds.
[[nodiscard]] GeneratorOptions options_for(std::uint64_t seed);
/// The same with few statements. Compilation dominates the time of a check; four short programs take as long
/// as one long program.
[[nodiscard]] GeneratorOptions short_options_for(std::uint64_t seed);

}  // namespace volley::testing
