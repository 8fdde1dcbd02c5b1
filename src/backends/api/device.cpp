// What devices cannot do unless their backend says otherwise.
#include "backends/api/device.hpp"

#include "core/fail.hpp"

namespace volley::backend {

std::unique_ptr<Memory> Device::import_host(std::span<std::byte> /*bytes*/) {
    fail(ErrorCode::Unsupported, "the caller's memory cannot be used without a copy", info().id(),
         "write() it into a buffer");
}

std::unique_ptr<Memory> Device::import_native(const NativeBuffer& /*buffer*/) {
    fail(ErrorCode::Unsupported, "an object of a driver cannot be used as memory", info().id(),
         "import it on a device of that driver");
}

}  // namespace volley::backend
