// Copies by the host: small ones through the caches, large ones past them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace volley::backends {

/// What the largest of the caches holds; 32 MiB where the system does not say.
[[nodiscard]] std::uint64_t last_cache_bytes() noexcept;

/// From so many bytes on a copy, which has two sides, is larger than what caches keep, and does better to
/// leave them alone.
[[nodiscard]] inline std::uint64_t large_copy() noexcept { return last_cache_bytes() / 2; }

/// What goes past the caches goes in whole lines.
inline constexpr std::size_t cache_line = 64;

/// A copy that leaves the caches alone: without it every written line is read first. What it wrote is ordered
/// before whatever the calling thread writes next.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

/// Whichever of memcpy and stream_copy suits the size.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

#if defined(__SSE2__)
/// 64 bytes to a multiple of 64, past the caches.
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

/// One of many short ones, which are ordered by a stream_fence() after the last. Whole lines go past the
/// caches; what is over at both ends must not touch these lines again, which would cost more than it all.
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
