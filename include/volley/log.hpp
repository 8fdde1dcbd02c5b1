// What the library has to say, to those who ask. Nothing is printed unless VOLLEY_LOG is set in the
// environment, or the program sets a level or a sink of its own.
#pragma once

#include <volley/api.hpp>

#include <atomic>
#include <functional>
#include <string_view>

namespace volley {

/// In rising order of importance. `Off` is a threshold only.
enum class LogLevel : int { Debug = 0, Info = 1, Warning = 2, Error = 3, Off = 4 };

/// "debug", "info", "warning", "error" or "off".
[[nodiscard]] VOLLEY_API std::string_view to_string(LogLevel level) noexcept;

/// Called with each message, one at a time whichever thread logs. It may itself log or change the sink. A
/// message is lost when its sink throws: logging never makes an operation fail.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Messages below `level` are dropped. Overrides VOLLEY_LOG.
VOLLEY_API void set_log_level(LogLevel level);

/// The level in force: what was set, else VOLLEY_LOG's, else Off. A VOLLEY_LOG that names no level counts as
/// unset here; making a context reports it.
[[nodiscard]] VOLLEY_API LogLevel log_level() noexcept;

/// Sends messages to `sink`, or with an empty function back to stderr. With no level chosen so far, it turns
/// on warnings and errors. Once it has returned, the former sink runs no more.
VOLLEY_API void set_log_sink(LogSink sink);

/// Sends one message. Cheap if the level is disabled, but build costly text only after log_enabled().
VOLLEY_API void log_message(LogLevel level, std::string_view text) noexcept;

namespace detail {

// Debug until the first slow look reads the environment, so that the fast path needs one load and compare.
extern VOLLEY_API std::atomic<int> log_threshold;
[[nodiscard]] VOLLEY_API bool log_enabled_slow(LogLevel level) noexcept;

}  // namespace detail

/// Whether a message of that level goes anywhere.
[[nodiscard]] inline bool log_enabled(LogLevel level) noexcept {
    return static_cast<int>(level) >= detail::log_threshold.load(std::memory_order_relaxed) &&
           detail::log_enabled_slow(level);
}

}  // namespace volley
