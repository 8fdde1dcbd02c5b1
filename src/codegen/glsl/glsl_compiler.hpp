// Compiles GLSL to SPIR-V, for kernels that users supply as GLSL. The compiler (shaderc) is in a separate
// library that is opened on first use; Volley's own kernels never need it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace volley::codegen::glsl {

/// Returns true if this build includes the GLSL compiler and it can be opened.
[[nodiscard]] bool available() noexcept;

/// Compiles a compute shader for Vulkan 1.2. Drivers optimise on their own; `optimise` takes four times as
/// long. Throws CompileError with the compiler's log, or DeviceError (Unsupported) if there is no compiler.
/// Thread-safe.
[[nodiscard]] std::vector<std::uint32_t> compile(std::string_view kernel, std::string_view source,
                                                 bool optimise = false);

}  // namespace volley::codegen::glsl
