// Output of VOLLEY_DUMP, for all layers.
#pragma once

#include <string_view>

namespace volley::backends {

/// Logs `text` as an informational message, or writes it to stderr if such messages are disabled. The caller
/// has checked settings().dump.
void dump(std::string_view title, std::string_view text);

}  // namespace volley::backends
