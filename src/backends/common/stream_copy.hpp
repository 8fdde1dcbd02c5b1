// Copies by the host: small ones through the caches, large ones with streaming stores that bypass them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace volley::backends {

/// Returns the size of the last-level cache, or 32 MiB if it is unknown.
[[nodiscard]] std::uint64_t last_cache_bytes() noexcept;

/// Returns the size from which copies bypass the caches: source and destination together no longer fit into
/// them.
[[nodiscard]] inline std::uint64_t large_copy() noexcept { return last_cache_bytes() / 2; }

/// The granularity of streaming stores.
inline constexpr std::size_t cache_line = 64;

/// Copies with stores that bypass the caches, which avoids reading every line before it is written. The
/// stores are ordered before all later stores of the calling thread.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

/// Copies with memcpy or stream_copy, depending on the size.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

#if defined(__SSE2__)
/// Copies 64 bytes to a 64-byte aligned address, bypassing the caches.
inline void stream_line(std::byte* to, const std::byte* from) noexcept {
    const auto* source = reinterpret_cast<const __m128i*>(from);
    auto* target = reinterpret_cast<__m128i*>(to);
    const __m128i a = _mm_loadu_si128(source);
    const __m128i b = _mm_loadu_si128(source + 1);
    const __m128i c = _mm_loadu_si128(source + 2);
    const __m128i d = _mm_loadu_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
}
#endif

/// Copies one of many short ranges; call stream_fence() after the last. Whole lines bypass the caches. The
/// bytes at both ends are copied with memcpy, which must not touch a streamed line again: that would cost
/// more than the whole copy.
inline void stream_part(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
    const std::size_t over = reinterpret_cast<std::uintptr_t>(to) % cache_line;
    if (over != 0) {
        const std::size_t head = std::min(bytes, cache_line - over);
        std::memcpy(to, from, head);
        to += head;
        from += head;
        bytes -= head;
    }
    for (; bytes >= cache_line; bytes -= cache_line, to += cache_line, from += cache_line)
        stream_line(to, from);
#endif
    if (bytes != 0) std::memcpy(to, from, bytes);
}

inline void stream_fence() noexcept {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}

}  // namespace volley::backends
