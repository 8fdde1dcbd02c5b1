// The differential test of one program: the interpreter runs it as it was made, after each pass and after the whole
// pipeline, compiled code runs it at several widths, and all must agree.
#pragma once

#include "random/program.hpp"

#include <optional>

namespace volley::testing {

struct DifferentialOptions {
    bool passes = true;                          // after each pass by itself
    bool cpu = true;                             // compiled code
    std::vector<unsigned> widths = {1, 4, 8, 16};
};

/// What went wrong and in which execution; nullopt when all agree. An exception of the library is a failure too.
[[nodiscard]] std::optional<std::string> check(const Program& program, const DifferentialOptions& options = {});

/// The failure of a program with its minimised form, as text for a person.
[[nodiscard]] std::string report(const Program& program, const std::string& failure,
                                 const DifferentialOptions& options = {});

}  // namespace volley::testing
