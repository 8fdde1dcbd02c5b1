// Variants are compiled under a lock and looked up without one.
#include "backends/vulkan/vulkan_program.hpp"

#include "backends/common/dump.hpp"
#include "backends/common/reports.hpp"
#include "core/compilers.hpp"
#include "core/fail.hpp"
#include "core/settings.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace volley::backends::vulkan {

namespace spirv = codegen::spirv;

namespace {

/// Returns an estimate of a variant's memory: the module, and what the driver makes of it. Drivers do not
/// report the latter; lavapipe takes about 100 KB for a small kernel.
std::uint64_t pipeline_bytes(const spirv::Module& module) {
    constexpr std::uint64_t least = 96 << 10;
    constexpr std::uint64_t growth = 8;
    return least + growth * module.words.size() * sizeof(std::uint32_t);
}

}  // namespace

VulkanProgram::VulkanProgram(ir::Function function, std::shared_ptr<PipelineCache> cache,
                             std::shared_ptr<LogicalDevice> device, spirv::Target target, ir::Dim3 local)
    : Program(std::move(function)),
      device_(std::move(device)),
      cache_(std::move(cache)),
      target_(std::move(target)) {
    if (target_.coarsening.factor > 1 && passes::can_coarsen(function_))
        blocks_ = passes::streamed(function_);
    first_ = std::make_unique<KernelVariant>();
    first_->variant = {local, true};
    first_->module = write_module(first_->variant);
}

VulkanProgram::VulkanProgram(ir::Function signature, std::shared_ptr<PipelineCache> cache,
                             std::shared_ptr<LogicalDevice> device, spirv::Module module, ir::Dim3 local)
    : Program(std::move(signature)),
      device_(std::move(device)),
      cache_(std::move(cache)),
      target_(device_->physical().target),
      given_(std::make_unique<KernelVariant>()) {
    given_->variant = {local, true};
    given_->module = std::move(module);
    given_->print_bytes = backends::print_bytes(given_->module.prints);
    make_pipeline(*given_);
}

VulkanProgram::~VulkanProgram() {
    const auto destroy = [&](const std::unique_ptr<KernelVariant>& kernel) {
        device_->vk.vkDestroyPipeline(device_->handle(), kernel->pipeline, nullptr);
    };
    kernels_.for_each(destroy);
    if (given_) destroy(given_);
}

spirv::Module VulkanProgram::write_module(const spirv::Variant& variant) const {
    return spirv::compile(function_, variant, target_);
}

const KernelVariant& VulkanProgram::kernel(const spirv::Variant& requested) const {
    if (given_) {
        if (requested.based) {
            const std::array<std::uint32_t, 3>& most = device_->physical().max_groups;
            fail(ErrorCode::InvalidLaunch, "the grid exceeds the device's limit on workgroups per launch",
                 cat("kernel '", function_.name, "' on ", device_->name()),
                 cat("the limit for kernels written in SPIR-V is ", most[0], " x ", most[1], " x ", most[2],
                     "; split the grid into several launches"));
        }
        if (requested.local == given_->variant.local) return *given_;
        fail(ErrorCode::InvalidLaunch, "the requested local size differs from the SPIR-V module's",
             cat("kernel '", function_.name, "'"),
             cat("launch it with ", given_->variant.local[0], " x ", given_->variant.local[1], " x ",
                 given_->variant.local[2]));
    }
    return *kernels_.find(requested, [&] {
        auto kernel = std::make_unique<KernelVariant>();
        kernel->variant = requested;
        // The first module is kept until its pipeline exists.
        const bool is_first = first_ != nullptr && first_->variant == requested;
        kernel->module = is_first ? first_->module : write_module(requested);
        kernel->print_bytes = backends::print_bytes(kernel->module.prints);
        if (settings().dump.spirv) dump(*kernel);
        make_pipeline(*kernel);
        first_.reset();
        return kernel;
    });
}

void VulkanProgram::make_pipeline(KernelVariant& kernel) const {
    const PhysicalDevice& physical = device_->physical();
    const spirv::Module& module = kernel.module;
    const auto subject = [&] { return cat("kernel '", function_.name, "' on ", device_->name()); };
    if (module.shared_bytes > physical.info.max_shared_bytes) {
        fail(ErrorCode::InvalidLaunch,
             cat("the kernel needs ", module.shared_bytes, " bytes of shared memory"), subject(),
             cat("the device has ", physical.info.max_shared_bytes,
                 " per workgroup; use smaller Shared arrays or a smaller local size"));
    }
    VolkDeviceTable& vk = device_->vk;
    auto code = structure<VkShaderModuleCreateInfo>(VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO);
    code.codeSize = module.words.size() * sizeof(std::uint32_t);
    code.pCode = module.words.data();
    VkShaderModule shader = VK_NULL_HANDLE;
    about_to_compile(function_.name);
    device_->check_lost();
    device_->check(vk.vkCreateShaderModule(device_->handle(), &code, nullptr, &shader),
                   "vkCreateShaderModule");

    auto info = structure<VkComputePipelineCreateInfo>(VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO);
    info.flags =
        VK_PIPELINE_CREATE_DISPATCH_BASE_BIT;  // grids beyond the driver's limit are launched in pieces
    kernel.layout = device_->layout();
    if (!module.bindings.empty()) {
        kernel.bindings = std::make_shared<BindingLayout>(device_, module.bindings);
        kernel.layout = kernel.bindings->pipeline();
    }
    info.layout = kernel.layout;
    info.stage =
        structure<VkPipelineShaderStageCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO);
    info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    info.stage.module = shader;
    info.stage.pName = module.entry.c_str();
    auto subgroup = structure<VkPipelineShaderStageRequiredSubgroupSizeCreateInfo>(
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO);
    if (module.needs_full_subgroups) {
        const std::uint32_t size = target_.subgroup_size;
        const ir::Dim3 local = kernel.variant.local;
        const std::uint64_t invocations = std::uint64_t{local[0]} * local[1] * local[2];
        if (physical.required_subgroup && physical.min_subgroup != physical.max_subgroup &&
            invocations <= std::uint64_t{size} * physical.max_subgroups) {
            subgroup.requiredSubgroupSize = size;
            info.stage.pNext = &subgroup;
        }
        if (physical.full_subgroups && local[0] % size == 0)
            info.stage.flags |= VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    VkPipeline pipeline = VK_NULL_HANDLE;
    const VkResult result =
        vk.vkCreateComputePipelines(device_->handle(), cache_->handle(), 1, &info, nullptr, &pipeline);
    vk.vkDestroyShaderModule(device_->handle(), shader, nullptr);
    if (result == VK_ERROR_DEVICE_LOST || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
        result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
        device_->check(result, "vkCreateComputePipelines");
    }
    if (result < 0 || pipeline == VK_NULL_HANDLE) {
        fail(ErrorCode::CompileError, cat("the driver cannot compile the kernel: ", result_text(result)),
             subject(),
             given_ ? "check the module with spirv-val"
                    : "simplify the kernel or use another device; VOLLEY_DUMP=spirv shows the module");
    }
    kernel.pipeline = pipeline;
    add_bytes(pipeline_bytes(module));
}

void VulkanProgram::dump(const KernelVariant& kernel) const {
    const ir::Dim3 local = kernel.variant.local;
    backends::dump(cat("SPIR-V of ", function_.name, ", local size ", local[0], "x", local[1], "x", local[2],
                       kernel.variant.full ? ", whole grid" : ""),
                   spirv::disassemble(kernel.module.words));
}

std::string VulkanProgram::code(ir::Dim3 local) const {
    if (given_) return spirv::disassemble(given_->module.words);
    return spirv::disassemble(write_module({local, true}).words);
}

}  // namespace volley::backends::vulkan
