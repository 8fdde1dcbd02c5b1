// Creates one descriptor pool per launch: simple, and kernels with bindings are rare.
#include "backends/vulkan/vulkan_bindings.hpp"

#include "backends/vulkan/vulkan_memory.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"

#include <vector>

namespace volley::backends::vulkan {

using codegen::spirv::Binding;

BindingLayout::BindingLayout(std::shared_ptr<LogicalDevice> device, std::span<const Binding> bindings)
    : device_(std::move(device)) {
    VolkDeviceTable& vk = device_->vk;
    std::vector<VkDescriptorSetLayoutBinding> list;
    for (const Binding& binding : bindings) {
        list.push_back(
            {binding.binding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    }
    auto set =
        structure<VkDescriptorSetLayoutCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO);
    set.bindingCount = static_cast<std::uint32_t>(list.size());
    set.pBindings = list.data();
    device_->check(vk.vkCreateDescriptorSetLayout(device_->handle(), &set, nullptr, &set_),
                   "vkCreateDescriptorSetLayout");
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, device_->physical().target.push_bytes};
    auto layout = structure<VkPipelineLayoutCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO);
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &set_;
    layout.pushConstantRangeCount = 1;
    layout.pPushConstantRanges = &range;
    const VkResult result = vk.vkCreatePipelineLayout(device_->handle(), &layout, nullptr, &pipeline_);
    if (result < 0) {
        vk.vkDestroyDescriptorSetLayout(device_->handle(), set_, nullptr);
        device_->check(result, "vkCreatePipelineLayout");
    }
}

BindingLayout::~BindingLayout() {
    device_->vk.vkDestroyPipelineLayout(device_->handle(), pipeline_, nullptr);
    device_->vk.vkDestroyDescriptorSetLayout(device_->handle(), set_, nullptr);
}

BoundSet::BoundSet(std::shared_ptr<LogicalDevice> device, const BindingLayout& layout,
                   std::span<const Binding> bindings, const backends::Launch& launch)
    : device_(std::move(device)) {
    VolkDeviceTable& vk = device_->vk;
    const PhysicalDevice& physical = device_->physical();
    std::vector<VkDescriptorBufferInfo> buffers;
    for (const Binding& binding : bindings) {
        const backends::Argument& argument = launch.args[binding.parameter];
        const auto& memory = static_cast<const VulkanMemory&>(*argument.memory);
        const std::uint64_t offset = memory.offset() + argument.offset;
        const std::uint64_t bytes =
            argument.elements * launch.program->function().params[binding.parameter].type.size();
        const auto refuse = [&](std::string_view what, std::string_view advice) {
            fail(ErrorCode::InvalidView, what,
                 cat("argument ", binding.parameter + 1, " of kernel '", launch.program->function().name,
                     "' on ", device_->name()),
                 advice);
        };
        if (offset % physical.storage_alignment != 0) {
            refuse(cat("a view cannot be bound at byte ", argument.offset, " of its buffer"),
                   cat("start views at multiples of ", physical.storage_alignment,
                       " bytes on this device, or use a buffer reference in the module"));
        }
        if (bytes > physical.storage_range) {
            refuse(cat("a view of ", bytes, " bytes cannot be bound"),
                   cat("the device's limit is ", physical.storage_range,
                       " bytes; use a smaller view, or a buffer reference in the module"));
        }
        buffers.push_back({memory.buffer(), offset, bytes == 0 ? VK_WHOLE_SIZE : bytes});
    }
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                    static_cast<std::uint32_t>(buffers.size())};
    auto pool = structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
    pool.maxSets = 1;
    pool.poolSizeCount = 1;
    pool.pPoolSizes = &size;
    device_->check(vk.vkCreateDescriptorPool(device_->handle(), &pool, nullptr, &pool_),
                   "vkCreateDescriptorPool");
    auto info = structure<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    info.descriptorPool = pool_;
    info.descriptorSetCount = 1;
    VkDescriptorSetLayout set_layout = layout.set();
    info.pSetLayouts = &set_layout;
    const VkResult result = vk.vkAllocateDescriptorSets(device_->handle(), &info, &set_);
    if (result < 0) {
        vk.vkDestroyDescriptorPool(device_->handle(), pool_, nullptr);
        device_->check(result, "vkAllocateDescriptorSets");
    }
    for (std::size_t k = 0; k < buffers.size(); ++k) {
        auto write = structure<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
        write.dstSet = set_;
        write.dstBinding = bindings[k].binding;
        write.descriptorCount = 1;
        write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        write.pBufferInfo = &buffers[k];
        vk.vkUpdateDescriptorSets(device_->handle(), 1, &write, 0, nullptr);
    }
}

BoundSet::~BoundSet() { device_->vk.vkDestroyDescriptorPool(device_->handle(), pool_, nullptr); }

}  // namespace volley::backends::vulkan
