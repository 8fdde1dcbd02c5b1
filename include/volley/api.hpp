// VOLLEY_API marks what the shared library exports. Everything else is compiled with hidden visibility,
// so a class or function that a program outside of the library names must carry it.
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
