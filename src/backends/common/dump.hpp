// What VOLLEY_DUMP shows: one way out for all layers.
#pragma once

#include <string_view>

namespace volley::backends {

/// Hands a text to the log as an informational message; where such messages go nowhere, writes it to stderr,
/// as setting VOLLEY_DUMP asks to see it. The caller has checked settings().dump.
void dump(std::string_view title, std::string_view text);

}  // namespace volley::backends
