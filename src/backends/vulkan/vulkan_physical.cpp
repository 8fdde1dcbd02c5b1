// Device queries, in dependency order.
#include "backends/vulkan/vulkan_physical.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace volley::backends::vulkan {
namespace {

/// The queried properties.
struct Properties {
    VkPhysicalDeviceProperties2 core =
        structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
    VkPhysicalDeviceVulkan11Properties v11 = structure<VkPhysicalDeviceVulkan11Properties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
    VkPhysicalDeviceVulkan12Properties v12 = structure<VkPhysicalDeviceVulkan12Properties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
    VkPhysicalDeviceSubgroupSizeControlProperties subgroup_size =
        structure<VkPhysicalDeviceSubgroupSizeControlProperties>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES);
    VkPhysicalDeviceMaintenance4Properties maintenance4 = structure<VkPhysicalDeviceMaintenance4Properties>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_4_PROPERTIES);
    VkPhysicalDeviceShaderCorePropertiesAMD amd_cores = structure<VkPhysicalDeviceShaderCorePropertiesAMD>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD);
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv_cores =
        structure<VkPhysicalDeviceShaderSMBuiltinsPropertiesNV>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV);
    VkPhysicalDeviceExternalMemoryHostPropertiesEXT host_memory =
        structure<VkPhysicalDeviceExternalMemoryHostPropertiesEXT>(
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT);
};

class ExtensionList {
public:
    explicit ExtensionList(VkPhysicalDevice device) {
        std::uint32_t count = 0;
        if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr) != VK_SUCCESS) return;
        known_.resize(count);
        if (vkEnumerateDeviceExtensionProperties(device, nullptr, &count, known_.data()) < 0) count = 0;
        known_.resize(count);
    }
    [[nodiscard]] bool has(const char* name) const {
        return std::any_of(known_.begin(), known_.end(), [&](const VkExtensionProperties& extension) {
            return std::strcmp(static_cast<const char*>(extension.extensionName), name) == 0;
        });
    }

private:
    std::vector<VkExtensionProperties> known_;
};

template <class Struct>
void append(void**& end, Struct& next, bool requested = true) {
    if (!requested) return;
    *end = &next;
    end = &next.pNext;
}

std::string refusal_of(std::uint32_t version, const FeatureChain& found, const PhysicalDevice& device) {
    if (version < VK_API_VERSION_1_2) return "it is older than Vulkan 1.2";
    std::vector<std::string_view> missing;
    const auto need = [&](VkBool32 has, std::string_view what) {
        if (has == VK_FALSE) missing.push_back(what);
    };
    need(found.v12.bufferDeviceAddress, "bufferDeviceAddress");
    need(found.v12.timelineSemaphore, "timelineSemaphore");
    need(found.v12.scalarBlockLayout, "scalarBlockLayout");
    need(found.v12.vulkanMemoryModel, "vulkanMemoryModel");
    need(found.v12.vulkanMemoryModelDeviceScope, "vulkanMemoryModelDeviceScope");
    need(device.queue_count > 0 ? VK_TRUE : VK_FALSE, "a queue for compute");
    return missing.empty() ? std::string() : cat("it lacks ", join(missing, ", "));
}

/// Returns whether host memory can be imported as a buffer with our usage flags.
bool imports_host_memory(VkPhysicalDevice device, const ExtensionList& extensions) {
    if (!extensions.has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME)) return false;
    auto info =
        structure<VkPhysicalDeviceExternalBufferInfo>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO);
    info.usage = buffer_usage;
    info.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    auto found = structure<VkExternalBufferProperties>(VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES);
    vkGetPhysicalDeviceExternalBufferProperties(device, &info, &found);
    return (found.externalMemoryProperties.externalMemoryFeatures &
            VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
}

/// Selects a compute-only queue family if there is one: its queues run concurrently with graphics.
void pick_queues(PhysicalDevice& to) {
    std::uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(to.handle, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(to.handle, &count, families.data());
    for (const bool alone : {true, false}) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const VkQueueFlags flags = families[i].queueFlags;
            if ((flags & VK_QUEUE_COMPUTE_BIT) == 0) continue;
            if (alone && (flags & VK_QUEUE_GRAPHICS_BIT) != 0) continue;
            to.queue_family = i;
            to.queue_count = std::min(families[i].queueCount, 16u);
            to.timestamp_bits = families[i].timestampValidBits;
            return;
        }
    }
}

/// Returns whether the host can read the queues' clock.
bool tells_time(VkPhysicalDevice device, const ExtensionList& extensions) {
    if (!extensions.has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) ||
        vkGetPhysicalDeviceCalibrateableTimeDomainsEXT == nullptr)
        return false;
    std::uint32_t count = 0;
    vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(device, &count, nullptr);
    std::vector<VkTimeDomainEXT> domains(count);
    vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(device, &count, domains.data());
    return std::find(domains.begin(), domains.end(), VK_TIME_DOMAIN_DEVICE_EXT) != domains.end();
}

void pick_features(const FeatureChain& found, PhysicalDevice& to) {
    FeatureChain& enable = to.features;
    const VkPhysicalDeviceFeatures& core = found.core.features;
    enable.core.features.shaderInt16 = core.shaderInt16;
    enable.core.features.shaderInt64 = core.shaderInt64;
    enable.core.features.shaderFloat64 = core.shaderFloat64;
    enable.v11.storageBuffer16BitAccess = found.v11.storageBuffer16BitAccess;
    enable.v11.uniformAndStorageBuffer16BitAccess = found.v11.uniformAndStorageBuffer16BitAccess;
    enable.v11.storagePushConstant16 = found.v11.storagePushConstant16;
    enable.v11.variablePointersStorageBuffer = found.v11.variablePointersStorageBuffer;
    enable.v11.variablePointers = found.v11.variablePointers;
    enable.v12.storageBuffer8BitAccess = found.v12.storageBuffer8BitAccess;
    enable.v12.uniformAndStorageBuffer8BitAccess = found.v12.uniformAndStorageBuffer8BitAccess;
    enable.v12.storagePushConstant8 = found.v12.storagePushConstant8;
    enable.v12.shaderBufferInt64Atomics = found.v12.shaderBufferInt64Atomics;
    enable.v12.shaderSharedInt64Atomics = found.v12.shaderSharedInt64Atomics;
    enable.v12.shaderFloat16 = found.v12.shaderFloat16;
    enable.v12.shaderInt8 = found.v12.shaderInt8;
    enable.v12.scalarBlockLayout = VK_TRUE;
    enable.v12.uniformBufferStandardLayout = found.v12.uniformBufferStandardLayout;
    enable.v12.shaderSubgroupExtendedTypes = found.v12.shaderSubgroupExtendedTypes;
    enable.v12.subgroupBroadcastDynamicId = found.v12.subgroupBroadcastDynamicId;
    enable.v12.timelineSemaphore = VK_TRUE;
    enable.v12.bufferDeviceAddress = VK_TRUE;
    enable.v12.vulkanMemoryModel = VK_TRUE;
    enable.v12.vulkanMemoryModelDeviceScope = VK_TRUE;
    enable.has_subgroup_size = found.has_subgroup_size;
    enable.subgroup_size.subgroupSizeControl = found.subgroup_size.subgroupSizeControl;
    enable.subgroup_size.computeFullSubgroups = found.subgroup_size.computeFullSubgroups;
    enable.has_maintenance4 = found.has_maintenance4;
    enable.maintenance4.maintenance4 = found.maintenance4.maintenance4;
    enable.has_atomic_float = found.has_atomic_float;
    enable.atomic_float.shaderBufferFloat32Atomics = found.atomic_float.shaderBufferFloat32Atomics;
    enable.atomic_float.shaderBufferFloat32AtomicAdd = found.atomic_float.shaderBufferFloat32AtomicAdd;
    enable.atomic_float.shaderSharedFloat32Atomics = found.atomic_float.shaderSharedFloat32Atomics;
    enable.atomic_float.shaderSharedFloat32AtomicAdd = found.atomic_float.shaderSharedFloat32AtomicAdd;
}

DeviceType type_of(VkPhysicalDeviceType type) {
    switch (type) {
        case VK_PHYSICAL_DEVICE_TYPE_CPU: return DeviceType::Cpu;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return DeviceType::IntegratedGpu;
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return DeviceType::DiscreteGpu;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return DeviceType::VirtualGpu;
        default: return DeviceType::Other;
    }
}

std::uint32_t compute_units(const PhysicalDevice& device, const Properties& properties) {
    if (device.info.software) return std::max(std::thread::hardware_concurrency(), 1u);
    if (properties.nv_cores.shaderSMCount != 0) return properties.nv_cores.shaderSMCount;
    const auto& amd = properties.amd_cores;
    return amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
}

void fill_info(const Properties& properties, unsigned index, PhysicalDevice& to) {
    const VkPhysicalDeviceProperties& core = properties.core.properties;
    DeviceInfo& info = to.info;
    info.backend = "vulkan";
    info.index = index;
    info.name = static_cast<const char*>(core.deviceName);
    info.driver = cat(static_cast<const char*>(properties.v12.driverName), " ",
                      static_cast<const char*>(properties.v12.driverInfo));
    info.driver = std::string(trimmed(info.driver));
    info.type = type_of(core.deviceType);
    info.software = info.type == DeviceType::Cpu || to.driver == VK_DRIVER_ID_MESA_LLVMPIPE ||
                    to.driver == VK_DRIVER_ID_GOOGLE_SWIFTSHADER;
    std::copy_n(static_cast<const std::uint8_t*>(properties.v11.deviceUUID), info.uuid.size(),
                info.uuid.begin());
    info.max_local_size = core.limits.maxComputeWorkGroupInvocations;
    std::copy_n(static_cast<const std::uint32_t*>(core.limits.maxComputeWorkGroupSize), 3,
                info.max_local_dims.begin());
    info.max_shared_bytes = core.limits.maxComputeSharedMemorySize;
    for (std::uint32_t i = 0; i < to.memory.memoryHeapCount; ++i) {
        const VkMemoryHeap& heap = to.memory.memoryHeaps[i];
        if ((heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
            info.memory_bytes = std::max<std::uint64_t>(info.memory_bytes, heap.size);
    }
    info.subgroup_size = to.target.subgroup_size;
    info.compute_units = compute_units(to, properties);
    info.max_queues = 64;
    // Missing hardware support is emulated, except for f64.
    info.i8 = info.i16 = info.i64 = info.f16 = true;
    info.f64 = to.target.f64;
    info.float_atomics = to.target.f32_add;
    info.int64_atomics = to.target.i64_atomics;
    info.subgroups = true;
    info.keeps_subnormals = to.target.keeps_subnormals_f32;
    info.fused_fma = to.target.fused_fma;
}

void fill_target(const Properties& properties, PhysicalDevice& to) {
    const FeatureChain& enabled = to.features;
    const VkPhysicalDeviceVulkan12Properties& v12 = properties.v12;
    codegen::spirv::Target& target = to.target;
    target.f16 = enabled.v12.shaderFloat16 != 0;
    target.f64 = enabled.core.features.shaderFloat64 != 0;
    target.i8 = enabled.v12.shaderInt8 != 0;
    target.i16 = enabled.core.features.shaderInt16 != 0;
    target.i64 = enabled.core.features.shaderInt64 != 0;
    target.storage8 = enabled.v12.storageBuffer8BitAccess != 0;
    target.storage16 = enabled.v11.storageBuffer16BitAccess != 0;
    target.f32_add = enabled.atomic_float.shaderBufferFloat32AtomicAdd != 0;
    target.shared_f32_add = enabled.atomic_float.shaderSharedFloat32AtomicAdd != 0;
    target.i64_atomics = enabled.v12.shaderBufferInt64Atomics != 0;
    target.shared_i64_atomics = enabled.v12.shaderSharedInt64Atomics != 0;
    target.keeps_nan_f16 = v12.shaderSignedZeroInfNanPreserveFloat16 != 0;
    target.keeps_nan_f32 = v12.shaderSignedZeroInfNanPreserveFloat32 != 0;
    target.keeps_nan_f64 = v12.shaderSignedZeroInfNanPreserveFloat64 != 0;
    // If the rounding modes of the widths cannot be set independently, use all or none: a module may use any
    // width.
    const bool even16 = v12.shaderRoundingModeRTEFloat16 != 0;
    const bool even32 = v12.shaderRoundingModeRTEFloat32 != 0;
    const bool even64 = v12.shaderRoundingModeRTEFloat64 != 0;
    const bool any = v12.roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL ||
                     (even16 == even32 && even32 == even64);
    target.rounds_even_f16 = any && even16;
    target.rounds_even_f32 = any && even32;
    target.rounds_even_f64 = any && even64;
    target.keeps_subnormals_f32 =
        v12.shaderDenormPreserveFloat32 != 0 &&
        v12.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;

    const VkPhysicalDeviceVulkan11Properties& v11 = properties.v11;
    if ((v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0) {
        const VkSubgroupFeatureFlags can = v11.subgroupSupportedOperations;
        target.subgroup_vote = (can & VK_SUBGROUP_FEATURE_VOTE_BIT) != 0;
        target.subgroup_arithmetic = (can & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0;
        target.subgroup_ballot = (can & VK_SUBGROUP_FEATURE_BALLOT_BIT) != 0;
        target.subgroup_shuffle = (can & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0;
        target.subgroup_size = v11.subgroupSize;
    }
    target.subgroup_extended_types = enabled.v12.shaderSubgroupExtendedTypes != 0;
    target.push_bytes = std::min(properties.core.properties.limits.maxPushConstantsSize, 256u);
    // lavapipe silently terminates loops after a total of 65,535 iterations per invocation.
    if (to.driver == VK_DRIVER_ID_MESA_LLVMPIPE) {
        target.max_iterations = 65'535;
        target.max_nesting = 80;
        // It loads lane by lane, so wide words are faster.
        target.coarsening = {8, 8};
    } else if (to.driver == VK_DRIVER_ID_GOOGLE_SWIFTSHADER) {
        target.coarsening = {4, 16};
        // It masks the values of phis, but not values that leave a loop through its only exit.
        target.loses_loop_values = true;
    }
    // Both implement Fma as a product and a sum, rounded twice (a test checks that this still holds).
    target.fused_fma = false;
    to.knows_fma = to.driver == VK_DRIVER_ID_MESA_LLVMPIPE || to.driver == VK_DRIVER_ID_GOOGLE_SWIFTSHADER;
}

}  // namespace

VkPhysicalDeviceFeatures2* FeatureChain::chain() noexcept {
    void** end = &core.pNext;
    append(end, v11);
    append(end, v12);
    append(end, subgroup_size, has_subgroup_size);
    append(end, maintenance4, has_maintenance4);
    append(end, atomic_float, has_atomic_float);
    *end = nullptr;
    return &core;
}

std::string describe(VkPhysicalDevice device, unsigned index, std::uint32_t instance_version,
                     PhysicalDevice& to) {
    to.handle = device;
    VkPhysicalDeviceProperties first{};
    vkGetPhysicalDeviceProperties(device, &first);
    to.info.name = static_cast<const char*>(first.deviceName);
    const std::uint32_t version = std::min(first.apiVersion, instance_version);
    FeatureChain found;
    if (version < VK_API_VERSION_1_2) return refusal_of(version, found, to);

    const ExtensionList extensions(device);
    const bool is_1_3 = version >= VK_API_VERSION_1_3;
    found.has_subgroup_size = is_1_3 || extensions.has(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
    found.has_maintenance4 = is_1_3 || extensions.has(VK_KHR_MAINTENANCE_4_EXTENSION_NAME);
    found.has_atomic_float = extensions.has(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
    vkGetPhysicalDeviceFeatures2(device, found.chain());

    const bool imports = imports_host_memory(device, extensions);
    Properties properties;
    void** end = &properties.core.pNext;
    append(end, properties.v11);
    append(end, properties.v12);
    append(end, properties.subgroup_size, found.has_subgroup_size);
    append(end, properties.maintenance4, found.has_maintenance4);
    append(end, properties.amd_cores, extensions.has(VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME));
    append(end, properties.nv_cores, extensions.has(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME));
    append(end, properties.host_memory, imports);
    vkGetPhysicalDeviceProperties2(device, &properties.core);
    vkGetPhysicalDeviceMemoryProperties(device, &to.memory);

    pick_queues(to);
    std::string refusal = refusal_of(version, found, to);
    if (!refusal.empty()) return refusal;

    to.driver = properties.v12.driverID;
    to.vendor_id = first.vendorID;
    to.device_id = first.deviceID;
    to.driver_version = first.driverVersion;
    std::copy_n(static_cast<const std::uint8_t*>(first.pipelineCacheUUID), to.cache_uuid.size(),
                to.cache_uuid.begin());
    to.timestamp_period = first.limits.timestampPeriod;
    to.storage_alignment = first.limits.minStorageBufferOffsetAlignment;
    to.storage_range = first.limits.maxStorageBufferRange;
    std::copy_n(static_cast<const std::uint32_t*>(first.limits.maxComputeWorkGroupCount), 3,
                to.max_groups.begin());
    to.max_allocation = properties.v11.maxMemoryAllocationSize;
    if (found.has_maintenance4)
        to.max_allocation = std::min<std::uint64_t>(to.max_allocation, properties.maintenance4.maxBufferSize);

    if (!is_1_3) {
        if (found.has_subgroup_size) to.extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
        if (found.has_maintenance4) to.extensions.push_back(VK_KHR_MAINTENANCE_4_EXTENSION_NAME);
    }
    if (found.has_atomic_float) to.extensions.push_back(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
    if (imports) {
        to.extensions.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
        to.import_alignment = properties.host_memory.minImportedHostPointerAlignment;
    }
    to.calibrated = to.timestamp_bits != 0 && tells_time(device, extensions);
    if (to.calibrated) to.extensions.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
    if (extensions.has("VK_KHR_portability_subset")) to.extensions.push_back("VK_KHR_portability_subset");
    pick_features(found, to);
    fill_target(properties, to);
    if (found.has_subgroup_size) {
        to.min_subgroup = properties.subgroup_size.minSubgroupSize;
        to.max_subgroup = properties.subgroup_size.maxSubgroupSize;
        to.max_subgroups = properties.subgroup_size.maxComputeWorkgroupSubgroups;
        to.full_subgroups = found.subgroup_size.computeFullSubgroups != 0;
        to.required_subgroup =
            found.subgroup_size.subgroupSizeControl != 0 &&
            (properties.subgroup_size.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
    } else {
        to.min_subgroup = to.max_subgroup = to.target.subgroup_size;
    }
    fill_info(properties, index, to);
    to.target.device = cat(to.info.id(), " (", to.info.name, ")");
    return {};
}

}  // namespace volley::backends::vulkan
