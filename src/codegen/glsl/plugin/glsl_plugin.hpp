// The C interface of libvolley_glsl, which is opened at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace volley::codegen::glsl {

inline constexpr const char* library_name = "libvolley_glsl.so";
inline constexpr const char* entry_name = "volley_glsl_compile";

/// Returns 0 after calling `words` with the module, or nonzero after calling `log` with the error.
using CompileFn = int (*)(const char* name, const char* source, std::size_t size, int optimise, void* to,
                          void (*words)(void* to, const std::uint32_t* words, std::size_t count),
                          void (*log)(void* to, const char* text));

}  // namespace volley::codegen::glsl
