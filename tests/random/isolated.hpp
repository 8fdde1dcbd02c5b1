// Runs checks in a child process, so a crash or an endless loop of compiled code is a failure with a seed
// instead of the end of the run.
#pragma once

#include "random/differential.hpp"

#include <functional>

namespace volley::testing {

/// Runs check() in a child process with a limit of `seconds`.
[[nodiscard]] std::optional<Failure> check_isolated(const Program& program,
                                                    const DifferentialOptions& options,
                                                    unsigned seconds = 20);

/// Returns a readable report of a failure with the minimised program. Every candidate is checked in a child
/// process, because it may crash.
[[nodiscard]] std::string report_isolated(const Program& program, const Failure& failure,
                                          const DifferentialOptions& options);

/// Calls `work` in a child process, which reports progress by storing into the word passed to it. The outcome
/// says whether the child succeeded, and holds the last word stored.
struct Outcome {
    bool ended_well = false;
    std::uint64_t progress = 0;
    std::string how;  // "signal 11", "exit code 1"
};
[[nodiscard]] Outcome run_in_child(const std::function<void(volatile std::uint64_t&)>& work,
                                   unsigned seconds);

}  // namespace volley::testing
