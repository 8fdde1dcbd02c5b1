// Copies by the host: small ones through the caches, large ones past them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace volley::backend {

/// From so many bytes on a copy is larger than what caches keep, and does better to leave them alone.
inline constexpr std::uint64_t large_copy = std::uint64_t{16} << 20;

/// A copy that leaves the caches alone: without it every written line is read first. What it wrote is ordered
/// before whatever the calling thread writes next.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

/// Whichever of memcpy and stream_copy suits the size.
void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

}  // namespace volley::backend
