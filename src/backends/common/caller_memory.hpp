// Imported host memory, for devices that work in host memory.
#pragma once

#include "backends/api/memory.hpp"

#include <cstddef>
#include <span>

namespace volley::backends {

/// Does not own its bytes and counts against no budget. Any address is accepted; callers that know the
/// element type check the alignment.
class CallerMemory final : public Memory {
public:
    explicit CallerMemory(std::span<std::byte> bytes) : Memory(bytes.size(), bytes.data()) {}
};

/// The alignment that Memory::host() guarantees for memory allocated by a device.
inline constexpr std::size_t host_alignment = 64;
/// The alignment that Device::allocate_host guarantees.
inline constexpr std::size_t host_page = 4096;

}  // namespace volley::backends
