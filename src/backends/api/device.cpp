// What devices cannot do unless their backend says otherwise.
#include "backends/api/device.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

#include <cstdint>

namespace volley::backends {

std::unique_ptr<Memory> Device::import_host(std::span<std::byte> /*bytes*/) {
    fail(ErrorCode::Unsupported, "the caller's memory cannot be used without a copy", info().id(),
         "write() it into a buffer");
}

std::unique_ptr<Memory> Device::import_native(const NativeBuffer& /*buffer*/) {
    fail(ErrorCode::Unsupported, "an object of a driver cannot be used as memory", info().id(),
         "import it on a device of that driver");
}

void Device::check_import(std::span<const std::byte> bytes) const {
    if (bytes.empty()) {
        fail(ErrorCode::InvalidArgument, "the caller's memory has no bytes", info().id(),
             "import at least one");
    }
    const std::size_t alignment = import_alignment();
    const auto over = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment;
    if (over == 0) return;
    fail(ErrorCode::InvalidArgument,
         cat("the caller's memory cannot be used without a copy: it begins ", over,
             " bytes past a multiple of ", alignment),
         info().id(), cat("allocate it at a multiple of ", alignment, ", or write() it into a buffer"));
}

}  // namespace volley::backends
