// Makes random kernels that keep the contract of docs/ir.md and whose results it fixes to the bit: no races,
// no access out of bounds, no barrier in divergent control flow, and nothing whose value the contract leaves
// open (the sign of min(0, -0), NaN payloads, the order of float atomics).
#pragma once

#include "random/program.hpp"

namespace volley::testing {

struct GeneratorOptions {
    bool floats = true;        // else integers and bool only
    bool functions = true;     // functions with an error bound, straight into buffers of their own
    bool subgroups = false;    // subgroup operations
    bool barriers = true;      // shared memory
    unsigned statements = 24;  // about how many
    unsigned observed = 4;     // values that are stored at the end, beside most variables
};

[[nodiscard]] Program generate(std::uint64_t seed, const GeneratorOptions& options = {});

/// Options that vary with the seed, so that one run covers all kinds.
[[nodiscard]] GeneratorOptions options_for(std::uint64_t seed);
/// The same with a few statements. Compiling takes nearly all of a check's time, and four short programs take
/// as much of it as one of the others.
[[nodiscard]] GeneratorOptions short_options_for(std::uint64_t seed);

}  // namespace volley::testing
