// VOLLEY_API marks the classes and functions that the shared library exports. Everything else is compiled
// with hidden visibility, so every non-inline name that programs use needs it.
#pragma once

#if defined(_WIN32)
#if defined(VOLLEY_BUILDING)
#define VOLLEY_API __declspec(dllexport)
#else
#define VOLLEY_API __declspec(dllimport)
#endif
#else
#define VOLLEY_API __attribute__((visibility("default")))
#endif
