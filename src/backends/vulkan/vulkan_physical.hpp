// Queries a device and derives its public description, the code generator's target, and the features and
// extensions to enable.
#pragma once

#include "backends/vulkan/vulkan_api.hpp"
#include "codegen/spirv/compiler.hpp"

#include <volley/device.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace volley::backends::vulkan {

/// The usage flags of all buffers.
inline constexpr VkBufferUsageFlags buffer_usage =
    VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
    VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

/// The features to query or enable, as a chain for vkCreateDevice. Copies must be linked again with chain().
struct FeatureChain {
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

    /// Links the structures that the device supports; the result points into this object.
    [[nodiscard]] VkPhysicalDeviceFeatures2* chain() noexcept;
};

struct PhysicalDevice {
    VkPhysicalDevice handle = VK_NULL_HANDLE;
    DeviceInfo info;
    codegen::spirv::Target target;
    FeatureChain features;  // to enable
    std::vector<const char*> extensions;

    VkDriverId driver = VkDriverId{};
    std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
    std::array<std::uint8_t, VK_UUID_SIZE> cache_uuid{};
    std::uint32_t queue_family = 0, queue_count = 0;
    std::uint32_t timestamp_bits = 0;  // of the queues' clock; 0: it has none
    float timestamp_period = 1;        // nanoseconds per tick
    bool calibrated = false;           // the host can read that clock
    VkPhysicalDeviceMemoryProperties memory{};
    std::uint64_t max_allocation = 0;  // maximum bytes of one allocation or buffer
    std::array<std::uint32_t, 3> max_groups{};
    std::uint64_t storage_alignment = 1, storage_range = 0;               // for buffers in descriptor sets
    std::uint32_t min_subgroup = 0, max_subgroup = 0, max_subgroups = 0;  // max_subgroups is per workgroup
    bool full_subgroups = false, required_subgroup = false;               // supported
    std::uint64_t import_alignment = 0;  // required of imported host memory; 0: import is not supported
    bool knows_fma = false;  // target.fused_fma is known; otherwise it is measured when the device is opened
};

/// Fills in all fields. Returns the reason if the device cannot be used, else an empty string.
[[nodiscard]] std::string describe(VkPhysicalDevice device, unsigned index, std::uint32_t instance_version,
                                   PhysicalDevice& to);

}  // namespace volley::backends::vulkan
