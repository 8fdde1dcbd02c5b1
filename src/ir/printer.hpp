// The printed form of the IR: what VOLLEY_DUMP=ir shows, and what parser.hpp reads back to the same function.
#pragma once

#include "ir/function.hpp"

namespace volley::ir {

struct PrintOptions {
    bool locations = true;  // append "; file.cpp:12" to each line that has one
};

/// parse(print(fn)) equals fn up to node numbering; values are numbered in order of appearance.
[[nodiscard]] std::string print(const Function& fn, PrintOptions options = {});

}  // namespace volley::ir
