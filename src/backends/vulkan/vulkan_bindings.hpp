// Descriptor sets for foreign modules that expect their buffers in one. Generated kernels use device
// addresses instead.
#pragma once

#include "backends/api/queue.hpp"
#include "backends/vulkan/vulkan_logical.hpp"
#include "codegen/spirv/compiler.hpp"

#include <memory>
#include <span>

namespace volley::backends::vulkan {

/// The layouts of a module with bindings.
class BindingLayout {
public:
    BindingLayout(std::shared_ptr<LogicalDevice> device, std::span<const codegen::spirv::Binding> bindings);
    ~BindingLayout();
    BindingLayout(const BindingLayout&) = delete;
    BindingLayout& operator=(const BindingLayout&) = delete;

    [[nodiscard]] VkDescriptorSetLayout set() const noexcept { return set_; }
    [[nodiscard]] VkPipelineLayout pipeline() const noexcept { return pipeline_; }

private:
    std::shared_ptr<LogicalDevice> device_;
    VkDescriptorSetLayout set_ = VK_NULL_HANDLE;
    VkPipelineLayout pipeline_ = VK_NULL_HANDLE;
};

/// The descriptor set of one launch. Must outlive its execution on the device.
class BoundSet {
public:
    /// Throws LaunchError (InvalidView) if the device cannot bind a buffer's offset or size.
    BoundSet(std::shared_ptr<LogicalDevice> device, const BindingLayout& layout,
             std::span<const codegen::spirv::Binding> bindings, const backends::Launch& launch);
    ~BoundSet();
    BoundSet(const BoundSet&) = delete;
    BoundSet& operator=(const BoundSet&) = delete;

    [[nodiscard]] VkDescriptorSet handle() const noexcept { return set_; }

private:
    std::shared_ptr<LogicalDevice> device_;
    VkDescriptorPool pool_ = VK_NULL_HANDLE;
    VkDescriptorSet set_ = VK_NULL_HANDLE;
};

}  // namespace volley::backends::vulkan
