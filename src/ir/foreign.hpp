// A kernel given as SPIR-V or OpenCL C instead of IR. It is stored in an ir::Function that has parameters but
// no body, so that launches, caches and graphs treat it like any other kernel; only a device that supports
// the language compiles it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace volley::ir {

enum class Language : std::uint8_t { SpirV, OpenCL };

[[nodiscard]] constexpr std::string_view name_of(Language language) noexcept {
    return language == Language::SpirV ? "SPIR-V" : "OpenCL C";
}

struct ForeignCode {
    Language language = Language::SpirV;
    std::vector<std::uint32_t> words;  // SPIR-V
    std::string text;                  // source
    std::string entry = "main";
    std::string options;  // compiler options for `text`
};

}  // namespace volley::ir
