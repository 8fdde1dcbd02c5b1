// All environment variables that the library reads are parsed here and nowhere else. An invalid value throws
// an ArgumentError that names the variable, its value and the legal values.
#pragma once

#include <volley/log.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace volley {

/// The intermediate forms that VOLLEY_DUMP requests.
struct DumpSettings {
    bool ir = false;        ///< the IR as traced and after each pass
    bool llvm = false;      ///< the CPU backend's LLVM IR
    bool assembly = false;  ///< "asm": the CPU backend's machine code
    bool spirv = false;
    bool opencl = false;
    bool cuda = false;
    [[nodiscard]] bool any() const noexcept { return ir || llvm || assembly || spirv || opencl || cuda; }
};

struct Settings {
    std::optional<LogLevel> log_level;         ///< VOLLEY_LOG=debug|verbose|info|warning|error|off
    std::vector<std::string> devices;          ///< VOLLEY_DEVICES=vulkan:*,cpu:0; empty if unset
    DumpSettings dump;                         ///< VOLLEY_DUMP=ir,llvm,asm,spirv,opencl,cuda or all
    bool check_bounds = false;                 ///< VOLLEY_CHECK=bounds (or none)
    std::optional<int> cpu_width;              ///< VOLLEY_CPU_WIDTH=1|2|4|8|16|32|64 lanes
    std::optional<std::string> cpu_level;      ///< VOLLEY_CPU_LEVEL=x86-64|x86-64-v2|x86-64-v3|x86-64-v4
    std::optional<int> cpu_threads;            ///< VOLLEY_CPU_THREADS=1 to 1024
    std::optional<std::int64_t> memory_limit;  ///< VOLLEY_MEMORY_LIMIT=bytes, or with K, M, G, T
    std::optional<std::int64_t>
        program_cache;  ///< VOLLEY_PROGRAM_CACHE=bytes, or with K, M, G, T; "off" is stored as 0
    std::optional<std::string>
        cache_directory;    ///< VOLLEY_CACHE_DIR=path; "off" is stored as an empty string: no cache
    bool validate = false;  ///< VOLLEY_VALIDATE=1 (or 0): enables the Vulkan validation layer
    std::optional<std::string> llvm_library;  ///< VOLLEY_LLVM_LIBRARY=path or file name of libLLVM
    std::optional<int> exit_seconds;  ///< VOLLEY_EXIT_SECONDS=0 to 86400: how long exit waits for stuck work
    std::optional<std::string> vulkan_loader;  ///< VOLLEY_VULKAN_LOADER=path of the Vulkan loader library
    std::optional<std::string> opencl_loader;  ///< VOLLEY_OPENCL_LOADER=path of the OpenCL ICD loader library
    std::string user_cache;  ///< the default cache directory: XDG_CACHE_HOME, else $HOME/.cache; may be empty

    /// Returns the folder for cached files: cache_directory, else "volley" in user_cache. Empty: nothing is
    /// cached.
    [[nodiscard]] std::string cache_folder() const;
};

/// Looks up a variable; returns null if it is unset. A variable that is set but empty counts as unset.
using Environment = std::function<const char*(const char* name)>;

/// Returns the settings of the process, parsed at the first call. Throws ArgumentError for an invalid value,
/// at each call until the environment is corrected.
[[nodiscard]] const Settings& settings();

/// Parses the given environment; used by tests.
[[nodiscard]] Settings parse_settings(const Environment& environment);

/// Returns VOLLEY_LOG, or null if it is unset or invalid. For the logger, which must not throw.
[[nodiscard]] std::optional<LogLevel> log_level_from_environment() noexcept;

}  // namespace volley
