// What there is to compute on: the description of a device, and the list of all of them.
#pragma once

#include <volley/api.hpp>

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace volley {

enum class DeviceType : std::uint8_t { Cpu, IntegratedGpu, DiscreteGpu, VirtualGpu, Other };

/// What a device is and can do. Plain data; printing it gives one line, describe() all of it.
struct DeviceInfo {
    std::string backend;  ///< "cpu", "reference", "vulkan", "opencl"
    unsigned index = 0;   ///< its number in its backend: "cpu:0"
    std::string name;     ///< what the driver or the processor calls it
    std::string driver;   ///< driver and version
    DeviceType type = DeviceType::Other;
    bool software = false;                ///< a driver that emulates a GPU on the CPU: used only when named
    std::array<std::uint8_t, 16> uuid{};  ///< of the physical device; equal through all backends

    // Limits
    std::uint32_t max_local_size = 0;               ///< invocations in a workgroup
    std::array<std::uint32_t, 3> max_local_dims{};  ///< per dimension
    std::uint64_t max_shared_bytes = 0;             ///< shared memory of a workgroup
    std::uint64_t memory_bytes = 0;                 ///< total
    std::uint32_t subgroup_size = 0;
    std::uint32_t compute_units = 0;  ///< cores of a CPU
    std::uint32_t max_queues = 0;

    // Features
    bool f16 = false, f64 = false, i8 = false, i16 = false, i64 = false;
    bool float_atomics = false, int64_atomics = false, subgroups = false;
    bool keeps_subnormals = false;  ///< arithmetic does not flush f32 subnormals to zero
    bool fused_fma = false;         ///< fma is fast; `a * b + c` becomes one (else it rounds twice)
    bool host_memory = false;       ///< its memory is host memory: spans are zero-copy

    /// "cpu:0"
    [[nodiscard]] VOLLEY_API std::string id() const;
    /// Several lines: identity, limits, features.
    [[nodiscard]] VOLLEY_API std::string describe() const;
};

/// All devices of all backends on this machine, also those that are used only when named. Opens drivers at
/// the first call; makes no context.
///
///     for (const DeviceInfo& d : devices()) std::cout << d << '\n';
[[nodiscard]] VOLLEY_API std::vector<DeviceInfo> devices();

/// "cpu", "integrated GPU", "discrete GPU", "virtual GPU" or "other".
[[nodiscard]] VOLLEY_API std::string_view to_string(DeviceType type) noexcept;

/// One line: `cpu:0  AMD EPYC ... (2 cores, 8 lanes)`.
VOLLEY_API std::ostream& operator<<(std::ostream& out, const DeviceInfo& device);

}  // namespace volley
