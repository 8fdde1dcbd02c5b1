// The process has one log sink and one threshold. The mutex is recursive and held while the sink runs:
// messages arrive one at a time, a sink may log, and a replaced sink is no longer in use when set_log_sink
// returns.
#include "core/settings.hpp"

#include <volley/log.hpp>

#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace volley {

std::atomic<int> detail::log_threshold{0};

namespace {

struct LogState {
    std::recursive_mutex mutex;
    std::shared_ptr<const LogSink> sink;  // null: stderr
    std::optional<LogLevel> level;        // null: not set yet
    bool environment_read = false;
};

// Never destroyed: other threads and static destructors may log while the process exits.
LogState& state() {
    static LogState& instance = *new LogState;
    return instance;
}

void read_environment_once(LogState& log) {
    if (log.environment_read) return;
    log.environment_read = true;
    if (!log.level) log.level = log_level_from_environment();
    const LogLevel fallback = log.sink ? LogLevel::Warning : LogLevel::Off;
    detail::log_threshold.store(static_cast<int>(log.level.value_or(fallback)), std::memory_order_relaxed);
}

void write_to_stderr(LogLevel level, std::string_view text) {
    std::string line = "[volley] ";
    line += to_string(level);
    line += ": ";
    line += text;
    line += '\n';
    std::fwrite(line.data(), 1, line.size(),
                stderr);  // one call, so lines of several processes do not interleave
}

}  // namespace

std::string_view to_string(LogLevel level) noexcept {
    switch (level) {
        case LogLevel::Debug: return "debug";
        case LogLevel::Info: return "info";
        case LogLevel::Warning: return "warning";
        case LogLevel::Error: return "error";
        case LogLevel::Off: return "off";
    }
    return "unknown";
}

void set_log_level(LogLevel level) {
    LogState& log = state();
    const std::scoped_lock lock(log.mutex);
    log.level = level;
    log.environment_read = true;
    detail::log_threshold.store(static_cast<int>(level), std::memory_order_relaxed);
}

LogLevel log_level() noexcept {
    LogState& log = state();
    const std::scoped_lock lock(log.mutex);
    read_environment_once(log);
    return static_cast<LogLevel>(detail::log_threshold.load(std::memory_order_relaxed));
}

void set_log_sink(LogSink sink) {
    auto next = sink ? std::make_shared<const LogSink>(std::move(sink)) : nullptr;
    LogState& log = state();
    const std::scoped_lock lock(log.mutex);
    log.sink = std::move(next);
    log.environment_read = false;
    read_environment_once(log);
}

bool detail::log_enabled_slow(LogLevel level) noexcept {
    return level != LogLevel::Off && level >= log_level();
}

void log_message(LogLevel level, std::string_view text) noexcept {
    if (!log_enabled(level)) return;
    try {
        LogState& log = state();
        const std::scoped_lock lock(log.mutex);
        const auto sink = log.sink;  // kept alive if the sink replaces itself
        if (sink) {
            (*sink)(level, text);
        } else {
            write_to_stderr(level, text);
        }
    } catch (...) {  // as documented, a throwing sink loses the message but does not fail the operation
        return;
    }
}

}  // namespace volley
