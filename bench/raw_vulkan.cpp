// Straight to the API; every failure is an exception.
#include "raw_vulkan.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace volley::bench {

using backends::vulkan::PhysicalDevice;
using backends::vulkan::structure;

namespace {

constexpr std::size_t ring = 256;  // command buffers of record_and_submit()

void must(VkResult result, const char* call) {
    if (result < 0) throw std::runtime_error(std::string("raw Vulkan: ") + call + " failed");
}

}  // namespace

std::unique_ptr<RawVulkan> RawVulkan::open(std::string_view name) {
    auto instance = backends::vulkan::Instance::open();
    if (!instance) return nullptr;
    for (const PhysicalDevice& physical : instance->devices()) {
        if (physical.info.name.find(name) == std::string::npos) continue;
        std::unique_ptr<RawVulkan> raw(new RawVulkan(instance));
        raw->create(physical);
        return raw;
    }
    return nullptr;
}

void RawVulkan::create(const PhysicalDevice& physical) {
    const float priority = 1;
    auto queues = structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
    queues.queueFamilyIndex = physical.queue_family;
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    auto v12 =
        structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);
    v12.timelineSemaphore = VK_TRUE;
    auto info = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
    info.pNext = &v12;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    must(vkCreateDevice(physical.handle, &info, nullptr, &device_), "vkCreateDevice");
    volkLoadDeviceTable(&vk_, device_);
    vk_.vkGetDeviceQueue(device_, physical.queue_family, 0, &queue_);

    auto pool = structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
    pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pool.queueFamilyIndex = physical.queue_family;
    must(vk_.vkCreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
    commands_.resize(ring + 1);
    auto allocate = structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    allocate.commandPool = pool_;
    allocate.commandBufferCount = static_cast<std::uint32_t>(commands_.size());
    must(vk_.vkAllocateCommandBuffers(device_, &allocate, commands_.data()), "vkAllocateCommandBuffers");

    auto type = structure<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
    type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
    auto semaphore = structure<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
    semaphore.pNext = &type;
    must(vk_.vkCreateSemaphore(device_, &semaphore, nullptr, &timeline_), "vkCreateSemaphore");

    constexpr VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    while ((physical.memory.memoryTypes[memory_type_].propertyFlags & wanted) != wanted) ++memory_type_;
}

RawVulkan::~RawVulkan() {
    vk_.vkDeviceWaitIdle(device_);
    for (const Buffer& buffer : buffers_) {
        vk_.vkDestroyBuffer(device_, buffer.buffer, nullptr);
        vk_.vkFreeMemory(device_, buffer.memory, nullptr);
    }
    vk_.vkDestroyPipeline(device_, pipeline_, nullptr);
    vk_.vkDestroyPipelineLayout(device_, layout_, nullptr);
    vk_.vkDestroyDescriptorPool(device_, descriptors_, nullptr);
    vk_.vkDestroyDescriptorSetLayout(device_, set_layout_, nullptr);
    vk_.vkDestroySemaphore(device_, timeline_, nullptr);
    vk_.vkDestroyCommandPool(device_, pool_, nullptr);
    vk_.vkDestroyDevice(device_, nullptr);
}

RawVulkan::Buffer RawVulkan::make_buffer(std::size_t count, float value) {
    Buffer made;
    made.count = count;
    auto info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
    info.size = count * sizeof(float);
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    must(vk_.vkCreateBuffer(device_, &info, nullptr, &made.buffer), "vkCreateBuffer");
    VkMemoryRequirements needs{};
    vk_.vkGetBufferMemoryRequirements(device_, made.buffer, &needs);
    auto allocate = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
    allocate.allocationSize = needs.size;
    allocate.memoryTypeIndex = memory_type_;
    must(vk_.vkAllocateMemory(device_, &allocate, nullptr, &made.memory), "vkAllocateMemory");
    must(vk_.vkBindBufferMemory(device_, made.buffer, made.memory, 0), "vkBindBufferMemory");
    void* mapped = nullptr;
    must(vk_.vkMapMemory(device_, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
    made.data = static_cast<float*>(mapped);
    std::fill_n(made.data, count, value);
    buffers_.push_back(made);
    return made;
}

void RawVulkan::make_kernel(std::span<const std::uint32_t> spirv, std::span<const Buffer> buffers,
                            std::uint32_t push_bytes) {
    std::vector<VkDescriptorSetLayoutBinding> bindings(buffers.size());
    for (std::uint32_t k = 0; k < bindings.size(); ++k)
        bindings[k] = {k, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    auto set =
        structure<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set.bindingCount = static_cast<std::uint32_t>(bindings.size());
    set.pBindings = bindings.data();
    must(vk_.vkCreateDescriptorSetLayout(device_, &set, nullptr, &set_layout_),
         "vkCreateDescriptorSetLayout");
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes};
    auto layout = structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_layout_;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    must(vk_.vkCreatePipelineLayout(device_, &layout, nullptr, &layout_), "vkCreatePipelineLayout");

    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                    static_cast<std::uint32_t>(buffers.size())};
    auto pool = structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool.maxSets = 1;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    must(vk_.vkCreateDescriptorPool(device_, &pool, nullptr, &descriptors_), "vkCreateDescriptorPool");
    auto allocate = structure<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    allocate.descriptorPool = descriptors_;
    allocate.descriptorSetCount = 1;
    allocate.pSetLayouts = &set_layout_;
    must(vk_.vkAllocateDescriptorSets(device_, &allocate, &set_), "vkAllocateDescriptorSets");
    for (std::uint32_t k = 0; k < buffers.size(); ++k) {
        const VkDescriptorBufferInfo whole{buffers[k].buffer, 0, VK_WHOLE_SIZE};
        auto write = structure<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
        write.dstSet = set_;
        write.dstBinding = k;
        write.descriptorCount = 1;
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = &whole;
        vk_.vkUpdateDescriptorSets(device_, 1, &write, 0, nullptr);
    }

    auto code = structure<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    code.codeSize = spirv.size_bytes();
    code.pCode = spirv.data();
    VkShaderModule module = VK_NULL_HANDLE;
    must(vk_.vkCreateShaderModule(device_, &code, nullptr, &module), "vkCreateShaderModule");
    auto info = structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.layout = layout_;
    info.stage =
        structure<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = module;
    info.stage.pName = "main";
    must(vk_.vkCreateComputePipelines(device_, VK_NULL_HANDLE, 1, &info, nullptr, &pipeline_),
         "vkCreateComputePipelines");
    vk_.vkDestroyShaderModule(device_, module, nullptr);
}

void RawVulkan::write(VkCommandBuffer buffer, std::span<const std::byte> push, std::uint32_t groups) {
    auto begin = structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
    must(vk_.vkBeginCommandBuffer(buffer, &begin), "vkBeginCommandBuffer");
    vk_.vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline_);
    vk_.vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, layout_, 0, 1, &set_, 0, nullptr);
    vk_.vkCmdPushConstants(buffer, layout_, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                           static_cast<std::uint32_t>(push.size()), push.data());
    vk_.vkCmdDispatch(buffer, groups, 1, 1);
    auto barrier = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
    barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
    barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_HOST_READ_BIT;
    vk_.vkCmdPipelineBarrier(buffer, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                             VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                             &barrier, 0, nullptr, 0, nullptr);
    must(vk_.vkEndCommandBuffer(buffer), "vkEndCommandBuffer");
}

void RawVulkan::submit(VkCommandBuffer buffer) {
    ++submitted_;
    auto values = structure<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
    values.signalSemaphoreValueCount = 1;
    values.pSignalSemaphoreValues = &submitted_;
    auto info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
    info.pNext = &values;
    info.commandBufferCount = 1;
    info.pCommandBuffers = &buffer;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &timeline_;
    must(vk_.vkQueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

void RawVulkan::record(std::span<const std::byte> push, std::uint32_t groups) {
    write(commands_[0], push, groups);
}

void RawVulkan::run() {
    submit(commands_[0]);
    wait();
}

void RawVulkan::record_and_submit(std::span<const std::byte> push, std::uint32_t groups) {
    if (submitted_ >= ring && submitted_ % (ring / 2) == 0) {
        const std::uint64_t value = submitted_ - ring / 2;
        auto info = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
        info.semaphoreCount = 1;
        info.pSemaphores = &timeline_;
        info.pValues = &value;
        must(vk_.vkWaitSemaphores(device_, &info, ~std::uint64_t{0}), "vkWaitSemaphores");
    }
    const VkCommandBuffer buffer = commands_[1 + submitted_ % ring];
    write(buffer, push, groups);
    submit(buffer);
}

void RawVulkan::wait() {
    const auto start = std::chrono::steady_clock::now();
    do {
        for (int i = 0; i < 16; ++i) {
            std::uint64_t value = 0;
            must(vk_.vkGetSemaphoreCounterValue(device_, timeline_, &value), "vkGetSemaphoreCounterValue");
            if (value >= submitted_) return;
#if defined(__SSE2__)
            for (int p = 0; p < 8; ++p) _mm_pause();
#endif
        }
    } while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(100));
    auto info = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
    info.semaphoreCount = 1;
    info.pSemaphores = &timeline_;
    info.pValues = &submitted_;
    must(vk_.vkWaitSemaphores(device_, &info, ~std::uint64_t{0}), "vkWaitSemaphores");
}

}  // namespace volley::bench
