// The printed form of the IR, shown by VOLLEY_DUMP=ir. The parser (parser.hpp) restores the function from it.
#pragma once

#include "ir/function.hpp"

namespace volley::ir {

struct PrintOptions {
    bool locations = true;  // append "; file.cpp:12" to each line that has one
};

/// Returns the printed form. parse(print(fn)) equals fn up to node numbering; values are numbered in order of
/// appearance.
[[nodiscard]] std::string print(const Function& fn, PrintOptions options = {});

}  // namespace volley::ir
