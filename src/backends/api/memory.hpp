// An allocation on a device.
#pragma once

#include <volley/native.hpp>

#include <cstddef>
#include <cstdint>

namespace volley::backends {

/// One block of a device's memory. Owned by whoever allocated it; freed by its destructor, which must not run
/// before the device is done with it (the runtime retires memory by timeline points).
class Memory {
public:
    virtual ~Memory() = default;
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    /// The bytes themselves where the host can address them (64-byte aligned, but for imports), else nullptr.
    [[nodiscard]] std::byte* host() const noexcept { return host_; }

    /// What it is to the driver.
    [[nodiscard]] virtual NativeBuffer native() const { return {}; }

protected:
    Memory(std::size_t size, std::byte* host) : size_(size), host_(host) {}
    std::size_t size_;
    std::byte* host_;
};

}  // namespace volley::backends
