// Sanitizers slow tests down many times. Tests that repeat to find rare failures, or use much data to reach a
// limit, do less work in such builds; other builds run them in full.
#pragma once

namespace volley::testing {

#ifdef VOLLEY_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Returns `part` in sanitized builds, else `all`: `programs = unless_sanitized(200, 40)`.
template <class T>
[[nodiscard]] constexpr T unless_sanitized(T all, T part) noexcept {
    return sanitized ? part : all;
}

}  // namespace volley::testing
