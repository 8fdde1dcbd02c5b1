// A kernel that was written elsewhere, in a device's own language. It travels as an ir::Function that has
// parameters but no body, so that launches, caches and graphs treat it like any other; only a device that
// runs the language compiles it.
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
    std::string options;  // for the compiler of a source
};

}  // namespace volley::ir
