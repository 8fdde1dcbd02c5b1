// The caller's bytes as memory of a device that works in the host's.
#pragma once

#include "backends/api/memory.hpp"

#include <cstddef>
#include <span>

namespace volley::backends {

/// Owns nothing, and counts against no budget. May begin anywhere: whoever knows the elements checks their
/// alignment.
class CallerMemory final : public Memory {
public:
    explicit CallerMemory(std::span<std::byte> bytes) : Memory(bytes.size(), bytes.data()) {}
};

/// What Memory::host() promises of memory that a device makes.
inline constexpr std::size_t host_alignment = 64;
/// What Device::allocate_host promises.
inline constexpr std::size_t host_page = 4096;

}  // namespace volley::backends
