// VOLLEY_API marks the classes and functions that the shared library exports. Everything else is compiled
// with hidden visibility, so every non-inline name that programs use needs it.
//
// Every public header includes this one before it uses C++20, so that compiling it as an older language
// reports one error.
#pragma once

#if __cplusplus < 202002L && !(defined(_MSVC_LANG) && _MSVC_LANG >= 202002L)
#error \
    "volley: this library needs C++20: compile with -std=c++20 (CMake: target_compile_features(app PRIVATE cxx_std_20))"
#include <volley_needs_cpp20>  // does not exist: a missing header ends the compilation, an #error does not
#endif

#if defined(_WIN32)
#if defined(VOLLEY_BUILDING)
#define VOLLEY_API __declspec(dllexport)
#else
#define VOLLEY_API __declspec(dllimport)
#endif
#else
#define VOLLEY_API __attribute__((visibility("default")))
#endif
