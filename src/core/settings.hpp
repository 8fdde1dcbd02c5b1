// All environment variables that the library reads, parsed in this one place and nowhere else. A wrong value
// is an ArgumentError that names the variable, the value and what is legal.
#pragma once

#include <volley/log.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace volley {

/// What VOLLEY_DUMP asks to see.
struct DumpSettings {
    bool ir = false;        ///< the IR as traced and after each pass
    bool llvm = false;      ///< LLVM IR of the CPU backend
    bool assembly = false;  ///< "asm": machine code of the CPU backend
    bool spirv = false;
    bool opencl = false;
    bool cuda = false;
    [[nodiscard]] bool any() const noexcept { return ir || llvm || assembly || spirv || opencl || cuda; }
};

struct Settings {
    std::optional<LogLevel> log_level;           ///< VOLLEY_LOG=debug|verbose|info|warning|error|off
    std::vector<std::string> devices;            ///< VOLLEY_DEVICES=vulkan:*,cpu:0; empty: not set
    DumpSettings dump;                           ///< VOLLEY_DUMP=ir,llvm,asm,spirv,opencl,cuda or all
    bool check_bounds = false;                   ///< VOLLEY_CHECK=bounds (or none)
    std::optional<int> cpu_width;                ///< VOLLEY_CPU_WIDTH=1|2|4|8|16|32|64 lanes
    std::optional<int> cpu_threads;              ///< VOLLEY_CPU_THREADS=1 to 1024
    std::optional<std::int64_t> memory_limit;    ///< VOLLEY_MEMORY_LIMIT=bytes, or with K, M, G, T
    std::optional<std::string> cache_directory;  ///< VOLLEY_CACHE_DIR=path; "off": an empty string, no cache
    bool validate = false;                       ///< VOLLEY_VALIDATE=1 (or 0): Vulkan's validation layer
    std::optional<std::string> vulkan_loader;    ///< VOLLEY_VULKAN_LOADER=path of the loader's library
    std::optional<std::string> opencl_loader;    ///< VOLLEY_OPENCL_LOADER=path of the ICD loader's library
    std::string user_cache;  ///< where caches go by default: XDG_CACHE_HOME, else HOME's .cache; may be empty

    /// The folder of the library's files: cache_directory, else "volley" in user_cache. Empty: keep nothing.
    [[nodiscard]] std::string cache_folder() const;
};

/// Looks a variable up; null where it is not set. A variable that is set but empty counts as not set.
using Environment = std::function<const char*(const char* name)>;

/// The process's settings, parsed at the first call. Throws ArgumentError for a wrong value, at each call
/// until the environment is right.
[[nodiscard]] const Settings& settings();

/// Parses another environment: for tests.
[[nodiscard]] Settings parse_settings(const Environment& environment);

/// VOLLEY_LOG alone, for the logger, which must work where throwing is no choice: null if unset or wrong.
[[nodiscard]] std::optional<LogLevel> log_level_from_environment() noexcept;

}  // namespace volley
