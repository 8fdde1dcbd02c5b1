// The boundary of libvolley_glsl, in C's terms: the library is opened at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace volley::codegen::glsl {

inline constexpr const char* library_name = "libvolley_glsl.so";
inline constexpr const char* entry_name = "volley_glsl_compile";

/// 0: `words` was called with the module. Else `log` was called with what is wrong.
using CompileFn = int (*)(const char* name, const char* source, std::size_t size, int optimise, void* to,
                          void (*words)(void* to, const std::uint32_t* words, std::size_t count),
                          void (*log)(void* to, const char* text));

}  // namespace volley::codegen::glsl
