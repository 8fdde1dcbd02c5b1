// A kernel on a Vulkan device: its optimised IR, and the module and pipeline of each variant (local size,
// whole grid or not) launched so far. Alternatively, a foreign module.
#pragma once

#include "backends/api/program.hpp"
#include "backends/vulkan/vulkan_bindings.hpp"
#include "backends/vulkan/vulkan_pipeline_cache.hpp"
#include "codegen/spirv/compiler.hpp"
#include "core/last_hit_cache.hpp"

#include <memory>
#include <vector>

namespace volley::backends::vulkan {

/// A variant that is ready to launch.
struct KernelVariant {
    codegen::spirv::Variant variant;
    codegen::spirv::Module module;
    VkPipeline pipeline = VK_NULL_HANDLE;
    VkPipelineLayout layout = VK_NULL_HANDLE;
    std::shared_ptr<const BindingLayout> bindings;  // null unless the module expects a descriptor set
    std::uint64_t print_bytes = 0;  // bytes that one invocation needs if it prints each line once
};

class VulkanProgram final : public backends::Program {
public:
    /// Generates one module immediately to detect missing device features. Throws DeviceError (Unsupported).
    VulkanProgram(ir::Function function, std::shared_ptr<PipelineCache> cache,
                  std::shared_ptr<LogicalDevice> device, codegen::spirv::Target target, ir::Dim3 local);
    /// Wraps a complete module, which has a single local size and is launched over whole workgroups;
    /// `signature` has its name and parameters, and no body. Throws CompileError if the driver rejects it.
    VulkanProgram(ir::Function signature, std::shared_ptr<PipelineCache> cache,
                  std::shared_ptr<LogicalDevice> device, codegen::spirv::Module module, ir::Dim3 local);
    ~VulkanProgram() override;

    [[nodiscard]] std::string code(ir::Dim3 local) const override;
    [[nodiscard]] const codegen::spirv::Target& target() const noexcept { return target_; }
    /// Returns which parameters a coarse variant accesses in blocks; empty if there is none.
    [[nodiscard]] const std::vector<bool>& blocks() const noexcept { return blocks_; }

    /// Returns a variant. The first request compiles it (some milliseconds); later ones cost a load and a
    /// compare. It lives as long as the program. Throws CompileError, DeviceError, LaunchError (too much
    /// shared memory).
    [[nodiscard]] const KernelVariant& kernel(const codegen::spirv::Variant& requested) const;

private:
    [[nodiscard]] codegen::spirv::Module write_module(const codegen::spirv::Variant& variant) const;
    void make_pipeline(KernelVariant& kernel) const;
    void dump(const KernelVariant& kernel) const;

    std::shared_ptr<LogicalDevice> device_;
    std::shared_ptr<PipelineCache> cache_;
    codegen::spirv::Target target_;
    std::unique_ptr<KernelVariant> given_;  // the module is foreign
    std::vector<bool> blocks_;

    mutable LastHitCache<codegen::spirv::Variant, std::unique_ptr<KernelVariant>> kernels_;
    mutable std::unique_ptr<KernelVariant> first_;  // generated, without its pipeline
};

}  // namespace volley::backends::vulkan
