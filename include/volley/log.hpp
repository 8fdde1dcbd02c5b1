// Logging. Nothing is logged unless the environment variable VOLLEY_LOG is set or the program sets a level or
// a sink.
#pragma once

#include <volley/api.hpp>

#include <atomic>
#include <functional>
#include <string_view>

namespace volley {

/// Levels in increasing order of severity. `Off` is only a threshold.
enum class LogLevel : int { Debug = 0, Info = 1, Warning = 2, Error = 3, Off = 4 };

/// Returns "debug", "info", "warning", "error" or "off".
[[nodiscard]] VOLLEY_API std::string_view to_string(LogLevel level) noexcept;

/// A function that is called with each message. Calls come from any thread, but never concurrently. It may
/// log and may change the sink. If it throws, the message is lost: logging never makes an operation fail.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Drops messages below `level`. Overrides VOLLEY_LOG.
VOLLEY_API void set_log_level(LogLevel level);

/// Returns the current level: the one that was set, otherwise that of VOLLEY_LOG, otherwise Off. An invalid
/// VOLLEY_LOG counts as unset here; creating a context reports it.
[[nodiscard]] VOLLEY_API LogLevel log_level() noexcept;

/// Sends messages to `sink`. An empty function restores the default, stderr. If no level was set, enables
/// warnings and errors. The previous sink is not called after this function returns.
VOLLEY_API void set_log_sink(LogSink sink);

/// Logs a message. Cheap if the level is disabled. Check log_enabled() before building expensive text.
VOLLEY_API void log_message(LogLevel level, std::string_view text) noexcept;

namespace detail {

// Debug until the first call of log_enabled_slow reads the environment, so that the fast path is one load and
// one comparison.
extern VOLLEY_API std::atomic<int> log_threshold;
[[nodiscard]] VOLLEY_API bool log_enabled_slow(LogLevel level) noexcept;

}  // namespace detail

/// Returns whether messages of this level are logged.
[[nodiscard]] inline bool log_enabled(LogLevel level) noexcept {
    return static_cast<int>(level) >= detail::log_threshold.load(std::memory_order_relaxed) &&
           detail::log_enabled_slow(level);
}

}  // namespace volley
