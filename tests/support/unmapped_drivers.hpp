// Real drivers with their memory out of the host's reach, as that of a discrete GPU is: what they are given
// and what is read from them goes through staging memory, which is so small that it goes around many times.
#pragma once

namespace volley::testing {

/// While one lives, contexts open the devices of Vulkan and OpenCL so; these stay as they were opened. Ids
/// and names are those of the devices themselves.
class UnmappedDrivers {
public:
    UnmappedDrivers();
    ~UnmappedDrivers();
    UnmappedDrivers(const UnmappedDrivers&) = delete;
    UnmappedDrivers& operator=(const UnmappedDrivers&) = delete;
};

}  // namespace volley::testing
