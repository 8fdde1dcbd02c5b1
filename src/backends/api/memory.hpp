// An allocation on a device.
#pragma once

#include <volley/native.hpp>

#include <cstddef>
#include <cstdint>

namespace volley::backends {

/// One allocation on a device. The destructor frees it, so it must not run before the device has finished
/// with it (the runtime retires memory by timeline points).
class Memory {
public:
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// Returns the host address (64-byte aligned, except for imports), or nullptr if the host cannot access
    /// the memory.
    [[nodiscard]] std::byte* host() const noexcept { return host_; }

    /// Returns the driver's handles.
    [[nodiscard]] virtual NativeBuffer native() const { return {}; }

protected:
    Memory(std::size_t size, std::byte* host) : size_(size), host_(host) {}
    std::size_t size_;
    std::byte* host_;
};

}  // namespace volley::backends
