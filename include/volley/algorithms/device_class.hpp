// DeviceClass: the kinds of devices that the default tuning parameters of algorithms distinguish.
#pragma once

#include <volley/device.hpp>

#include <cstdint>

namespace volley {

enum class DeviceClass : std::uint8_t {
    Cpu,       ///< the CPU backend: a workgroup runs on one thread, in vectors
    Software,  ///< a GPU emulated on the CPU, and OpenCL CPUs: as Cpu, but launches and barriers cost more
    Gpu,
};

/// Returns the class of a device. The reference interpreter counts as Cpu.
[[nodiscard]] VOLLEY_API DeviceClass device_class(const DeviceInfo& device) noexcept;

}  // namespace volley
