// Reads the printed form of the IR. Safe on any input: malformed text is an IrError with line and column.
#pragma once

#include "ir/function.hpp"

namespace volley::ir {

/// The function that `text` prints. The result is verified. Throws IrError.
[[nodiscard]] Function parse(std::string_view text);

}  // namespace volley::ir
