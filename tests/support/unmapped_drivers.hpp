// Real drivers with unmapped memory, as on a discrete GPU: transfers go through staging memory, which is so
// small that it wraps around many times.
#pragma once

namespace volley::testing {

/// During its lifetime, contexts open Vulkan and OpenCL devices in this way; such devices stay unmapped
/// afterwards. Ids and names are those of the real devices.
class UnmappedDrivers {
public:
    UnmappedDrivers();
    ~UnmappedDrivers();
    UnmappedDrivers(const UnmappedDrivers&) = delete;
    UnmappedDrivers& operator=(const UnmappedDrivers&) = delete;
};

}  // namespace volley::testing
