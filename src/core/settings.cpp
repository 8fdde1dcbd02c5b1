// One parsing function per kind of value; parse_settings lists all variables.
#include "core/settings.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>

namespace volley {
namespace {

struct Setting {
    const char* name;
    std::string_view value;

    [[noreturn]] void refuse(std::string_view legal) const {
        fail(ErrorCode::InvalidArgument, "an environment variable has an invalid value",
             cat(name, "='", value, "'"), cat("set it to ", legal, ", or unset it"));
    }
};

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return result;
}

std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> items;
    while (true) {
        const auto comma = text.find(',');
        items.push_back(trimmed(text.substr(0, comma)));
        if (comma == std::string_view::npos) return items;
        text.remove_prefix(comma + 1);
    }
}

std::optional<LogLevel> log_level_named(std::string_view text) {
    const std::string name = lower(trimmed(text));
    if (name == "debug" || name == "verbose") return LogLevel::Debug;
    if (name == "info") return LogLevel::Info;
    if (name == "warning" || name == "warn") return LogLevel::Warning;
    if (name == "error") return LogLevel::Error;
    if (name == "off" || name == "none") return LogLevel::Off;
    return std::nullopt;
}

LogLevel parse_log_level(const Setting& variable) {
    if (const auto level = log_level_named(variable.value)) return *level;
    variable.refuse("debug (or verbose), info, warning, error or off");
}

std::vector<std::string> parse_list(const Setting& variable, std::string_view legal) {
    std::vector<std::string> items;
    for (const std::string_view item : split(variable.value)) {
        if (item.empty()) variable.refuse(legal);
        items.emplace_back(item);
    }
    return items;
}

DumpSettings parse_dump(const Setting& variable) {
    DumpSettings dump;
    for (const std::string_view item : split(variable.value)) {
        const std::string name = lower(item);
        const bool all = name == "all";
        bool known = all;
        const auto match = [&](std::string_view expected, bool& flag) {
            if (!all && name != expected) return;
            flag = known = true;
        };
        match("ir", dump.ir);
        match("llvm", dump.llvm);
        match("asm", dump.assembly);
        match("spirv", dump.spirv);
        match("opencl", dump.opencl);
        match("cuda", dump.cuda);
        if (!known)
            variable.refuse("a comma-separated list of ir, llvm, asm, spirv, opencl and cuda, or all");
    }
    return dump;
}

bool parse_check(const Setting& variable) {
    bool bounds = false;
    for (const std::string_view item : split(variable.value)) {
        const std::string name = lower(item);
        if (name == "bounds") {
            bounds = true;
        } else if (name != "none") {
            variable.refuse("bounds or none");
        }
    }
    return bounds;
}

std::optional<std::int64_t> integer(std::string_view text) {
    text = trimmed(text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

int parse_integer(const Setting& variable, std::int64_t low, std::int64_t high) {
    const auto value = integer(variable.value);
    if (!value || *value < low || *value > high)
        variable.refuse(cat("a whole number from ", low, " to ", high));
    return static_cast<int>(*value);
}

int parse_width(const Setting& variable) {
    const auto value = integer(variable.value);
    if (!value || *value < 1 || *value > 64 || (*value & (*value - 1)) != 0) {
        variable.refuse("1, 2, 4, 8, 16, 32 or 64");
    }
    return static_cast<int>(*value);
}

std::int64_t parse_bytes(const Setting& variable) {
    constexpr std::string_view legal =
        "a number of bytes above zero, with an optional K, M, G or T for binary multiples";
    std::string_view digits = trimmed(variable.value);
    int shift = 0;
    if (!digits.empty()) {
        const auto unit = std::string_view("kmgt").find(lower(digits.substr(digits.size() - 1)));
        if (unit != std::string_view::npos) {
            shift = 10 * (static_cast<int>(unit) + 1);
            digits.remove_suffix(1);
        }
    }
    const auto value = integer(digits);
    if (!value || *value <= 0 || *value > (std::numeric_limits<std::int64_t>::max() >> shift)) {
        variable.refuse(legal);
    }
    return *value << shift;
}

bool is_off(const Setting& variable) {
    const std::string name = lower(trimmed(variable.value));
    return name == "off" || name == "none";
}

std::string parse_level(const Setting& variable) {
    std::string name = lower(trimmed(variable.value));
    if (name != "x86-64" && name != "x86-64-v2" && name != "x86-64-v3" && name != "x86-64-v4")
        variable.refuse("x86-64, x86-64-v2, x86-64-v3 or x86-64-v4");
    return name;
}

bool parse_switch(const Setting& variable) {
    const std::string name = lower(trimmed(variable.value));
    if (name == "1" || name == "on") return true;
    if (name == "0" || name == "off") return false;
    variable.refuse("1 or 0");
}

}  // namespace

std::string Settings::cache_folder() const {
    if (cache_directory) return *cache_directory;
    return user_cache.empty() ? std::string() : user_cache + "/volley";
}

Settings parse_settings(const Environment& environment) {
    Settings result;
    const auto read = [&environment](const char* name, auto&& use) {
        const char* value = environment(name);
        if (value != nullptr && *value != '\0') use(Setting{name, value});
    };
    read("VOLLEY_LOG", [&](const Setting& v) { result.log_level = parse_log_level(v); });
    read("VOLLEY_DEVICES", [&](const Setting& v) {
        result.devices = parse_list(v, "a comma-separated list of devices such as cpu:0 or vulkan:*");
    });
    read("VOLLEY_DUMP", [&](const Setting& v) { result.dump = parse_dump(v); });
    read("VOLLEY_CHECK", [&](const Setting& v) { result.check_bounds = parse_check(v); });
    read("VOLLEY_CPU_WIDTH", [&](const Setting& v) { result.cpu_width = parse_width(v); });
    read("VOLLEY_CPU_THREADS", [&](const Setting& v) { result.cpu_threads = parse_integer(v, 1, 1024); });
    read("VOLLEY_CPU_LEVEL", [&](const Setting& v) { result.cpu_level = parse_level(v); });
    read("VOLLEY_MEMORY_LIMIT", [&](const Setting& v) { result.memory_limit = parse_bytes(v); });
    read("VOLLEY_PROGRAM_CACHE",
         [&](const Setting& v) { result.program_cache = is_off(v) ? 0 : parse_bytes(v); });
    read("VOLLEY_CACHE_DIR", [&](const Setting& v) {
        result.cache_directory = is_off(v) ? std::string() : std::string(v.value);
    });
    read("VOLLEY_EXIT_SECONDS", [&](const Setting& v) { result.exit_seconds = parse_integer(v, 0, 86'400); });
    read("VOLLEY_VALIDATE", [&](const Setting& v) { result.validate = parse_switch(v); });
    read("VOLLEY_LLVM_LIBRARY", [&](const Setting& v) { result.llvm_library = std::string(v.value); });
    read("VOLLEY_VULKAN_LOADER", [&](const Setting& v) { result.vulkan_loader = std::string(v.value); });
    read("VOLLEY_OPENCL_LOADER", [&](const Setting& v) { result.opencl_loader = std::string(v.value); });
    // These variables are not Volley's. The XDG Base Directory Specification says to ignore relative paths.
    const auto absolute = [](const Setting& v) { return v.value.front() == '/'; };
    read("HOME", [&](const Setting& v) {
        if (absolute(v)) result.user_cache = cat(v.value, "/.cache");
    });
    read("XDG_CACHE_HOME", [&](const Setting& v) {
        if (absolute(v)) result.user_cache = std::string(v.value);
    });
    return result;
}

const Settings& settings() {
    static const Settings parsed = parse_settings([](const char* name) { return std::getenv(name); });
    return parsed;
}

std::optional<LogLevel> log_level_from_environment() noexcept {
    const char* value = std::getenv("VOLLEY_LOG");
    if (value == nullptr) return std::nullopt;
    return log_level_named(value);
}

}  // namespace volley
