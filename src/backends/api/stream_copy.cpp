// Streaming stores where the processor has them, else memcpy.
#include "backends/api/stream_copy.hpp"

#include <algorithm>
#include <cstring>

namespace volley::backend {

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
    constexpr std::size_t page = 4096;
    constexpr std::size_t pages = 4;
    const std::size_t head =
        std::min(bytes, (cache_line - reinterpret_cast<std::uintptr_t>(to) % cache_line) % cache_line);
    std::memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    // Four pages side by side, as memory's banks and the prefetchers like it: one after the other is half as
    // fast.
    for (; bytes >= pages * page; bytes -= pages * page, to += pages * page, from += pages * page) {
        for (std::size_t at = 0; at < page; at += cache_line) {
            for (std::size_t p = 0; p < pages; ++p) {
                const std::byte* source = from + p * page + at;
                _mm_prefetch(reinterpret_cast<const char*>(source) + 4 * cache_line, _MM_HINT_T0);
                stream_line(to + p * page + at, source);
            }
        }
    }
    for (; bytes >= cache_line; bytes -= cache_line, to += cache_line, from += cache_line)
        stream_line(to, from);
    _mm_sfence();
#endif
    std::memcpy(to, from, bytes);
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    if (bytes >= large_copy) {
        stream_copy(to, from, bytes);
    } else {
        std::memcpy(to, from, bytes);
    }
}

}  // namespace volley::backend
