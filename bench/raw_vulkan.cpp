// The minimal Vulkan code that runs a kernel well.
#include "raw_vulkan.hpp"

#include "codegen/glsl/glsl_compiler.hpp"

#include <emmintrin.h>

#include <chrono>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace volley::bench {
namespace {

constexpr auto spin_time = std::chrono::microseconds(100);  // the same as Volley's

void check(VkResult result, const char* what) {
    if (result != VK_SUCCESS)
        throw std::runtime_error(std::string(what) + " failed: " + std::to_string(result));
}

template <class T>
T structure(VkStructureType type) {
    T value{};
    value.sType = type;
    return value;
}

}  // namespace

RawVulkan::RawVulkan(std::string_view name) {
    check(volkInitialize(), "opening Vulkan's loader");
    auto application = structure<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
    application.apiVersion = VK_API_VERSION_1_2;
    auto info = structure<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
    info.pApplicationInfo = &application;
    check(vkCreateInstance(&info, nullptr, &instance_), "vkCreateInstance");
    volkLoadInstanceOnly(instance_);

    std::uint32_t count = 0;
    check(vkEnumeratePhysicalDevices(instance_, &count, nullptr), "vkEnumeratePhysicalDevices");
    std::vector<VkPhysicalDevice> found(count);
    check(vkEnumeratePhysicalDevices(instance_, &count, found.data()), "vkEnumeratePhysicalDevices");
    VkPhysicalDevice physical = VK_NULL_HANDLE;
    for (const VkPhysicalDevice candidate : found) {
        VkPhysicalDeviceProperties properties{};
        vkGetPhysicalDeviceProperties(candidate, &properties);
        if (std::string_view(properties.deviceName).find(name) != std::string_view::npos)
            physical = candidate;
    }
    if (physical == VK_NULL_HANDLE)
        throw std::runtime_error("no Vulkan device has a name that contains " + std::string(name));

    auto timeline = structure<VkPhysicalDeviceTimelineSemaphoreFeatures>(
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES);
    timeline.timelineSemaphore = VK_TRUE;
    const float priority = 1;
    auto queue = structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    auto device_info = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    device_info.pNext = &timeline;
    device_info.queueCreateInfoCount = 1;
    device_info.pQueueCreateInfos = &queue;
    check(vkCreateDevice(physical, &device_info, nullptr, &device), "vkCreateDevice");
    volkLoadDeviceTable(&vk, device);
    vk.vkGetDeviceQueue(device, 0, 0, &queue_);

    VkPhysicalDeviceMemoryProperties memory{};
    vkGetPhysicalDeviceMemoryProperties(physical, &memory);
    constexpr VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    while (host_memory < memory.memoryTypeCount &&
           (memory.memoryTypes[host_memory].propertyFlags & wanted) != wanted)
        ++host_memory;

    auto pool = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    check(vk.vkCreateCommandPool(device, &pool, nullptr, &pool_), "vkCreateCommandPool");
    auto type = structure<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto semaphore = structure<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    semaphore.pNext = &type;
    check(vk.vkCreateSemaphore(device, &semaphore, nullptr, &timeline_), "vkCreateSemaphore");
}

RawVulkan::~RawVulkan() {
    if (device != VK_NULL_HANDLE) {
        vk.vkDeviceWaitIdle(device);
        vk.vkDestroySemaphore(device, timeline_, nullptr);
        vk.vkDestroyCommandPool(device, pool_, nullptr);
        vk.vkDestroyDevice(device, nullptr);
    }
    if (instance_ != VK_NULL_HANDLE) vkDestroyInstance(instance_, nullptr);
}

VkCommandBuffer RawVulkan::make_commands() {
    auto info = structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer commands = VK_NULL_HANDLE;
    check(vk.vkAllocateCommandBuffers(device, &info, &commands), "vkAllocateCommandBuffers");
    return commands;
}

void RawVulkan::record(VkCommandBuffer to, const RawKernel& kernel, float value, std::uint32_t groups,
                       int launches) const {
    auto begin = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    check(vk.vkBeginCommandBuffer(to, &begin), "vkBeginCommandBuffer");
    auto barrier = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
    for (int k = 0; k < launches; ++k) {
        vk.vkCmdPipelineBarrier(to, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                                VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, nullptr, 0, nullptr);
        kernel.record(to, value, groups);
    }
    check(vk.vkEndCommandBuffer(to), "vkEndCommandBuffer");
}

void RawVulkan::record_copy(VkCommandBuffer to, const RawBuffer& target, const RawBuffer& source,
                            std::span<const VkBufferCopy> regions) const {
    auto begin = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    begin.flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT;
    check(vk.vkBeginCommandBuffer(to, &begin), "vkBeginCommandBuffer");
    vk.vkCmdCopyBuffer(to, source.handle(), target.handle(), static_cast<std::uint32_t>(regions.size()),
                       regions.data());
    auto barrier = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
    vk.vkCmdPipelineBarrier(to, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0,
                            nullptr, 0, nullptr);
    check(vk.vkEndCommandBuffer(to), "vkEndCommandBuffer");
}

std::uint64_t RawVulkan::submit(VkCommandBuffer commands) {
    const std::uint64_t point = ++last_;
    auto values = structure<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &point;
    auto info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.pNext = &values;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &timeline_;
    check(vk.vkQueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
    return point;
}

void RawVulkan::wait(std::uint64_t point) const {
    const auto limit = std::chrono::steady_clock::now() + spin_time;
    do {
        std::uint64_t value = 0;
        check(vk.vkGetSemaphoreCounterValue(device, timeline_, &value), "vkGetSemaphoreCounterValue");
        if (value >= point) return;
        for (int i = 0; i < 8; ++i) _mm_pause();
    } while (std::chrono::steady_clock::now() < limit);
    auto info = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &timeline_;
    info.pValues = &point;
    check(vk.vkWaitSemaphores(device, &info, std::numeric_limits<std::uint64_t>::max()), "vkWaitSemaphores");
}

RawBuffer::RawBuffer(RawVulkan& vulkan, std::size_t bytes) : vulkan_(vulkan), bytes_(bytes) {
    auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    check(vulkan.vk.vkCreateBuffer(vulkan.device, &info, nullptr, &buffer_), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vulkan.vk.vkGetBufferMemoryRequirements(vulkan.device, buffer_, &needs);
    auto memory = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    memory.allocationSize = needs.size;
    memory.memoryTypeIndex = vulkan.host_memory;
    check(vulkan.vk.vkAllocateMemory(vulkan.device, &memory, nullptr, &memory_), "vkAllocateMemory");
    check(vulkan.vk.vkBindBufferMemory(vulkan.device, buffer_, memory_, 0), "vkBindBufferMemory");
    check(vulkan.vk.vkMapMemory(vulkan.device, memory_, 0, VK_WHOLE_SIZE, 0, &mapped_), "vkMapMemory");
}

RawBuffer::~RawBuffer() {
    vulkan_.vk.vkDestroyBuffer(vulkan_.device, buffer_, nullptr);
    vulkan_.vk.vkFreeMemory(vulkan_.device, memory_, nullptr);
}

RawKernel::RawKernel(RawVulkan& vulkan, std::string_view glsl, const std::vector<const RawBuffer*>& buffers)
    : vulkan_(vulkan) {
    const VolkDeviceTable& vk = vulkan.vk;
    const auto count = static_cast<std::uint32_t>(buffers.size());
    std::vector<VkDescriptorSetLayoutBinding> bindings(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        bindings[i].binding = i;
        bindings[i].descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        bindings[i].descriptorCount = 1;
        bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
    }
    auto set_layout =
        structure<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set_layout.bindingCount = count;
    set_layout.pBindings = bindings.data();
    check(vk.vkCreateDescriptorSetLayout(vulkan.device, &set_layout, nullptr, &set_layout_),
          "vkCreateDescriptorSetLayout");
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count};
    auto pool = structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool.maxSets = 1;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    check(vk.vkCreateDescriptorPool(vulkan.device, &pool, nullptr, &pool_), "vkCreateDescriptorPool");
    auto allocate = structure<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    allocate.descriptorPool = pool_;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &set_layout_;
    check(vk.vkAllocateDescriptorSets(vulkan.device, &allocate, &set_), "vkAllocateDescriptorSets");
    for (std::uint32_t i = 0; i < count; ++i) {
        const VkDescriptorBufferInfo buffer{buffers[i]->handle(), 0, buffers[i]->bytes()};
        auto write = structure<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
        write.dstSet = set_;
        write.dstBinding = i;
        write.descriptorCount = 1;
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = &buffer;
        vk.vkUpdateDescriptorSets(vulkan.device, 1, &write, 0, nullptr);
    }
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(float)};
    auto layout = structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_layout_;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    check(vk.vkCreatePipelineLayout(vulkan.device, &layout, nullptr, &layout_), "vkCreatePipelineLayout");
    const std::vector<std::uint32_t> words = codegen::glsl::compile("peer", glsl);
    auto module = structure<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    module.codeSize = words.size() * sizeof(std::uint32_t);
    module.pCode = words.data();
    check(vk.vkCreateShaderModule(vulkan.device, &module, nullptr, &module_), "vkCreateShaderModule");
    auto info = structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.stage =
        structure<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module_;
    info.stage.pName = "main";
    info.layout = layout_;
    check(vk.vkCreateComputePipelines(vulkan.device, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_),
          "vkCreateComputePipelines");
}

RawKernel::~RawKernel() {
    const VolkDeviceTable& vk = vulkan_.vk;
    vk.vkDeviceWaitIdle(vulkan_.device);
    vk.vkDestroyPipeline(vulkan_.device, pipeline_, nullptr);
    vk.vkDestroyShaderModule(vulkan_.device, module_, nullptr);
    vk.vkDestroyPipelineLayout(vulkan_.device, layout_, nullptr);
    vk.vkDestroyDescriptorPool(vulkan_.device, pool_, nullptr);
    vk.vkDestroyDescriptorSetLayout(vulkan_.device, set_layout_, nullptr);
}

void RawKernel::record(VkCommandBuffer to, float value, std::uint32_t groups) const {
    const VolkDeviceTable& vk = vulkan_.vk;
    vk.vkCmdBindPipeline(to, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    vk.vkCmdBindDescriptorSets(to, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0, nullptr);
    vk.vkCmdPushConstants(to, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof value, &value);
    // Vulkan guarantees 65,535 workgroups per dimension.
    const std::uint32_t rows = groups > 65535 ? groups / 32768 : 1;
    vk.vkCmdDispatch(to, groups / rows, rows, 1);
}

RawVulkan* raw_vulkan() {
    static const std::unique_ptr<RawVulkan> vulkan = []() -> std::unique_ptr<RawVulkan> {
        if (!codegen::glsl::available()) return nullptr;
        try {
            return std::make_unique<RawVulkan>("llvmpipe");
        } catch (const std::runtime_error&) {
            return nullptr;  // missing_vulkan() names the packages
        }
    }();
    return vulkan.get();
}

std::string missing_vulkan() {
    return "lavapipe or shaderc was not found: install mesa-vulkan-drivers, libshaderc-dev, glslang-dev";
}

}  // namespace volley::bench
