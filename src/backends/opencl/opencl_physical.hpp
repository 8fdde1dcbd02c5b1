// Queries a device and derives its public description and the code generator's target.
#pragma once

#include "backends/opencl/opencl_api.hpp"
#include "codegen/opencl/compiler.hpp"

#include <volley/device.hpp>

#include <cstdint>
#include <string>

namespace volley::backends::opencl {

struct PhysicalDevice {
    cl_device_id handle = nullptr;
    cl_platform_id platform = nullptr;
    DeviceInfo info;
    codegen::opencl::Target target;

    unsigned version = 0;              // of the device: 120, 200, 300
    std::string identity;              // platform, device and driver with versions; key of cached binaries
    std::uint64_t max_allocation = 0;  // maximum bytes of one buffer
    std::uint64_t base_alignment = 1;  // of sub-buffers, in bytes
    std::uint64_t max_argument_bytes = 0;
    bool unified = false;  // it uses host memory
    /// Whether buffers can be shared with the host without mapping (fine-grained buffer SVM).
    bool fine_grained = false;
    bool shares_any_memory = false;  // including imported host memory
};

/// Fills in all fields. Returns the reason if the device cannot be used, else an empty string.
[[nodiscard]] std::string describe(const Api& cl, cl_platform_id platform, cl_device_id device,
                                   unsigned index, PhysicalDevice& to);

}  // namespace volley::backends::opencl
