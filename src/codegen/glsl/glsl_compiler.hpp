// GLSL to SPIR-V, for kernels that users bring as GLSL. The compiler (shaderc) is in a library of its own
// that is opened when it is first needed: Volley's own kernels never use it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace volley::codegen::glsl {

/// Whether this build came with the GLSL compiler, and it can be opened.
[[nodiscard]] bool available() noexcept;

/// Compiles a compute shader for Vulkan 1.2. Drivers optimise for themselves; doing it here as well takes
/// four times as long. Throws CompileError with the compiler's log, or DeviceError
/// (Unsupported) where there is no compiler. Thread-safe.
[[nodiscard]] std::vector<std::uint32_t> compile(std::string_view kernel, std::string_view source,
                                                 bool optimise = false);

}  // namespace volley::codegen::glsl
