// What a driver says of a device, and what we make of it: the public description and the code generator's
// target.
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
    std::string identity;              // platform, device and driver with their versions: whose binaries fit
    std::uint64_t max_allocation = 0;  // bytes of one buffer
    std::uint64_t base_alignment = 1;  // bytes: of sub-buffers
    std::uint64_t max_argument_bytes = 0;
    bool unified = false;  // its memory is the host's
    /// Buffers whose bytes host and device share without mapping, as fine-grained shared virtual memory.
    bool fine_grained = false;
    bool shares_any_memory = false;  // the caller's own too
};

/// Fills in all of it. Gives the reason why the device cannot serve, or an empty string.
[[nodiscard]] std::string describe(const Api& cl, cl_platform_id platform, cl_device_id device,
                                   unsigned index, PhysicalDevice& to);

}  // namespace volley::backends::opencl
