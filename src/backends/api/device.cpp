// Default implementations for operations that a device does not support.
#include "backends/api/device.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <cstdint>

namespace volley::backends {

std::unique_ptr<Memory> Device::import_host(std::span<std::byte> /*bytes*/) {
    fail(ErrorCode::Unsupported, "host memory cannot be imported", info().id(),
         "copy it into a buffer with write()");
}

std::unique_ptr<Memory> Device::import_native(const NativeBuffer& /*buffer*/) {
    fail(ErrorCode::Unsupported, "native buffers cannot be imported", info().id(),
         "import it on a device of the driver that created it");
}

void Device::check_import(std::span<const std::byte> bytes) const {
    if (bytes.empty()) {
        fail(ErrorCode::InvalidArgument, "an empty range of host memory cannot be imported", info().id(),
             "pass at least one byte");
    }
    const std::size_t alignment = import_alignment();
    const auto over = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment;
    if (over == 0) return;
    fail(
        ErrorCode::InvalidArgument,
        cat("host memory cannot be imported: its address is ", over, " bytes past a multiple of ", alignment),
        info().id(), cat("align it to ", alignment, " bytes, or copy it into a buffer with write()"));
}

}  // namespace volley::backends
