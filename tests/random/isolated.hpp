// Runs checks in a process of their own, so that a crash or an endless loop of compiled code is a failure
// with a seed instead of the end of the run.
#pragma once

#include "random/differential.hpp"

#include <functional>

namespace volley::testing {

/// As check(), in a child process that is given `seconds`.
[[nodiscard]] std::optional<Failure> check_isolated(const Program& program,
                                                    const DifferentialOptions& options,
                                                    unsigned seconds = 20);

/// The failure of a program with its minimised form, as text for a person. Every candidate is checked in a
/// child process, as it may crash.
[[nodiscard]] std::string report_isolated(const Program& program, const Failure& failure,
                                          const DifferentialOptions& options);

/// Calls `work` in a child process; it tells of its progress by storing into the word that it is given. Gives
/// true when the child ended well, and in any case the last word stored.
struct Outcome {
    bool ended_well = false;
    std::uint64_t progress = 0;
    std::string how;  // "signal 11", "exit code 1"
};
[[nodiscard]] Outcome run_in_child(const std::function<void(volatile std::uint64_t&)>& work,
                                   unsigned seconds);

}  // namespace volley::testing
