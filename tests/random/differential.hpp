// The differential test of one program: the interpreter runs it as generated, after each pass and after the
// whole pipeline; compiled code runs it at several widths. All results must agree.
#pragma once

#include "random/program.hpp"

#include <optional>

namespace volley::testing {

struct DifferentialOptions {
    bool passes = true;  // after each pass by itself
    bool cpu = true;     // compiled code
    std::vector<unsigned> widths = {1, 4, 8, 16};
    unsigned both_forms = 1;     // one in this many programs also runs its full grid under a mask
    std::string processor = {};  // that code is compiled for; empty: the host's
};

struct Failure {
    std::string where;  // the execution that failed
    std::string what;
    unsigned width = 0;  // of compiled code; 0: the interpreter
};

/// Returns nullopt if all agree. Exceptions from the library count as failures.
[[nodiscard]] std::optional<Failure> check(const Program& program, const DifferentialOptions& options = {});

}  // namespace volley::testing
