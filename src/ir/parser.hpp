// Parses the printed form of the IR. Safe on any input: malformed text throws an IrError with line and
// column.
#pragma once

#include "ir/function.hpp"

namespace volley::ir {

/// Returns the function whose printed form is `text`, verified. Throws IrError.
[[nodiscard]] Function parse(std::string_view text);

}  // namespace volley::ir
