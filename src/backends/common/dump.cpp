// Writes dumps to the log or to stderr.
#include "backends/common/dump.hpp"

#include "core/text.hpp"

#include <volley/log.hpp>

#include <cstdio>

namespace volley::backends {

void dump(std::string_view title, std::string_view text) {
    const std::string message = cat("--- ", title, "\n", text, text.ends_with('\n') ? "" : "\n", "---");
    if (log_enabled(LogLevel::Info)) {
        log_message(LogLevel::Info, message);
        return;
    }
    const std::string line = message + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace volley::backends
