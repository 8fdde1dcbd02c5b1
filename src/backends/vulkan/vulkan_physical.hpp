// What a driver says of a device, and what we make of it: the public description, the code generator's
// target, the features and extensions to open it with.
#pragma once

#include "backends/vulkan/vulkan_api.hpp"
#include "codegen/spirv/compiler.hpp"

#include <volley/device.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace volley::backends::vulkan {

/// What buffers are used for, all of them.
inline constexpr VkBufferUsageFlags buffer_usage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
    VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

/// The features that are used, as a chain for vkCreateDevice. Copies are linked anew.
struct Features {
    VkPhysicalDeviceFeatures2 core =
        structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
    VkPhysicalDeviceVulkan11Features v11 =
        structure<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
    VkPhysicalDeviceVulkan12Features v12 =
        structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    VkPhysicalDeviceSubgroupSizeControlFeatures subgroup_size =
        structure<VkPhysicalDeviceSubgroupSizeControlFeatures>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES);
    VkPhysicalDeviceMaintenance4Features maintenance4 = structure<VkPhysicalDeviceMaintenance4Features>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_FEATURES);
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float =
        structure<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);
    bool has_subgroup_size = false, has_maintenance4 = false, has_atomic_float = false;

    /// Links what the device knows; the result points into this object.
    [[nodiscard]] VkPhysicalDeviceFeatures2* chain() noexcept;
};

struct PhysicalDevice {
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    DeviceInfo info;
    codegen::spirv::Target target;
    Features features;  // to enable
    std::vector<const char*> extensions;

    VkDriverId driver = VkDriverId{};
    std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
    std::array<std::uint8_t, VK_UUID_SIZE> cache_uuid{};
    std::uint32_t queue_family = 0, queue_count = 0;
    std::uint32_t timestamp_bits = 0;  // of the queues' clock; 0: they have none
    float timestamp_period = 1;        // nanoseconds of a tick
    bool calibrated = false;           // the host can ask what that clock says
    VkPhysicalDeviceMemoryProperties memory{};
    std::uint64_t max_allocation = 0;  // bytes of one allocation or buffer
    std::array<std::uint32_t, 3> max_groups{};
    std::uint64_t storage_alignment = 1, storage_range = 0;               // of buffers in descriptor sets
    std::uint32_t min_subgroup = 0, max_subgroup = 0, max_subgroups = 0;  // of a workgroup
    bool full_subgroups = false, required_subgroup = false;               // can be asked for
    std::uint64_t import_alignment = 0;  // of host memory that is used without a copy; 0: it cannot be
    bool knows_fma = false;  // target.fused_fma is known; else it is measured when the device is opened
};

/// Fills in all of it. Gives the reason why the device cannot serve, or an empty string.
[[nodiscard]] std::string describe(VkPhysicalDevice device, unsigned index, std::uint32_t instance_version,
                                   PhysicalDevice& to);

}  // namespace volley::backends::vulkan
