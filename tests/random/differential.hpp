// The differential test of one program: the interpreter runs it as it was made, after each pass and after the
// whole pipeline, compiled code runs it at several widths, and all must agree.
#pragma once

#include "random/program.hpp"

#include <optional>

namespace volley::testing {

struct DifferentialOptions {
    bool passes = true;  // after each pass by itself
    bool cpu = true;     // compiled code
    std::vector<unsigned> widths = {1, 4, 8, 16};
    unsigned both_forms = 1;     // how often a full grid also runs under a mask: one of so many programs
    std::string processor = {};  // that compiled code is for; empty: the host's
};

struct Failure {
    std::string where;  // which execution
    std::string what;
    unsigned width = 0;  // of compiled code; 0: the interpreter's
};

/// Nullopt when all agree. An exception of the library is a failure too.
[[nodiscard]] std::optional<Failure> check(const Program& program, const DifferentialOptions& options = {});

}  // namespace volley::testing
