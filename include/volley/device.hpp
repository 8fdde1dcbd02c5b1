// DeviceInfo, and the list of all devices of the machine.
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

/// Identity, limits and features of a device. Plain data. operator<< prints one line, describe() everything.
struct DeviceInfo {
    std::string backend;  ///< "cpu", "reference", "vulkan", "opencl"
    unsigned index = 0;   ///< its number in the backend: the 0 of "cpu:0"
    std::string name;     ///< as reported by the driver or the processor
    std::string driver;   ///< driver and version
    DeviceType type = DeviceType::Other;
    bool software = false;                ///< emulates a GPU on the CPU; used only if named explicitly
    std::array<std::uint8_t, 16> uuid{};  ///< of the physical device; the same in all backends

    // Limits
    std::uint32_t max_local_size = 0;               ///< invocations in a workgroup, in total
    std::array<std::uint32_t, 3> max_local_dims{};  ///< invocations in a workgroup, per dimension
    std::uint64_t max_shared_bytes = 0;             ///< shared memory per workgroup
    std::uint64_t memory_bytes = 0;                 ///< total memory of the device
    std::uint32_t subgroup_size = 0;
    std::uint32_t compute_units = 0;  ///< on a CPU, its cores
    std::uint32_t max_queues = 0;

    // Features
    bool f16 = false, f64 = false, i8 = false, i16 = false, i64 = false;
    bool float_atomics = false, int64_atomics = false, subgroups = false;
    bool keeps_subnormals = false;  ///< arithmetic does not flush f32 subnormals to zero
    bool fused_fma = false;    ///< fma is fast; `a * b + c` is contracted to one (otherwise it rounds twice)
    bool host_memory = false;  ///< the host can address its memory: spans need no copy

    /// Returns backend and index: "cpu:0".
    [[nodiscard]] VOLLEY_API std::string id() const;
    /// Returns identity, limits and features in several lines.
    [[nodiscard]] VOLLEY_API std::string describe() const;
};

/// Returns all devices of all backends on this machine, including those used only if named explicitly. The
/// first call opens the drivers. Does not create a context.
///
///     for (const DeviceInfo& d : devices()) std::cout << d << '\n';
[[nodiscard]] VOLLEY_API std::vector<DeviceInfo> devices();

/// Returns "cpu", "integrated GPU", "discrete GPU", "virtual GPU" or "other".
[[nodiscard]] VOLLEY_API std::string_view to_string(DeviceType type) noexcept;

/// Writes one line: `cpu:0  AMD EPYC ... (2 cores, 8 lanes)`.
VOLLEY_API std::ostream& operator<<(std::ostream& out, const DeviceInfo& device);

}  // namespace volley
