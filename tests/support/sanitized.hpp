// Sanitizers make a test take many times as long. Where it repeats itself to find what is rare, or works on
// much to reach a limit, a part of that will do: builds without them do all of it.
#pragma once

namespace volley::testing {

#ifdef VOLLEY_SANITIZED
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// How many, and how many where a sanitizer watches: `programs = unless_sanitized(200, 40)`.
template <class T>
[[nodiscard]] constexpr T unless_sanitized(T all, T part) noexcept {
    return sanitized ? part : all;
}

}  // namespace volley::testing
