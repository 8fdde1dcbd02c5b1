// Streaming stores where the processor has them, else memcpy.
#include "backends/api/stream_copy.hpp"

#include <algorithm>
#include <cstring>

namespace volley::backend {

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
    const std::size_t head = std::min(bytes, (64 - reinterpret_cast<std::uintptr_t>(to) % 64) % 64);
    std::memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    for (; bytes >= 64; bytes -= 64, to += 64, from += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(from) + 1024, _MM_HINT_NTA);
        stream_line(to, from);
    }
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
