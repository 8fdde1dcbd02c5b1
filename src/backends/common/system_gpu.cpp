// Looks for the device nodes of GPU drivers.
#include "backends/common/system_gpu.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <system_error>

namespace volley::backends {

bool system_has_gpu() {
#if defined(__linux__)
    constexpr std::string_view nodes[] = {"dri", "nvidia", "nvhost", "nvgpu", "nvmap",
                                          "dxg", "kgsl",   "mali",   "pvr"};
    std::error_code error;
    for (std::filesystem::directory_iterator at("/dev", error), end; !error && at != end;
         at.increment(error)) {
        const std::string name = at->path().filename().string();
        const auto fits = [&](std::string_view node) { return name.starts_with(node); };
        if (std::any_of(std::begin(nodes), std::end(nodes), fits)) return true;
    }
    return static_cast<bool>(error);  // if /dev cannot be listed, assume that there is one
#else
    return true;
#endif
}

}  // namespace volley::backends
